//! WebSockets.

use std::sync::Arc;

use bytes::Bytes;
use hyper::{HeaderMap, Response};
use jsonrpc::Params;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::{caller::Caller, gateway::Gateway, method::SessionCall, refusal::Refusal};

/// The subscriptions of one connection.
pub(crate) struct Session;

impl Session {
    /// Answers a call that came in the message with this number.
    pub(crate) async fn answer(
        &self,
        _message: u64,
        _call: SessionCall,
        _params: Params<'_>,
    ) -> Result<Bytes, Refusal> {
        Err(Refusal::SocketOnly)
    }
}

/// Whether the request asks for a WebSocket.
pub(crate) fn is_upgrade(_headers: &HeaderMap) -> bool {
    false
}

/// The response that switches protocols, or nothing if the handshake is not version 13 with a key.
pub(crate) fn accept(_headers: &HeaderMap) -> Option<Response<()>> {
    None
}

/// Serves an upgraded connection to its end.
pub(crate) async fn serve<S>(_gateway: &Arc<Gateway>, _caller: Caller, _io: S, _stop: &CancellationToken)
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
}
