//! One connection from accept to close, through a change to WebSocket if there is one.

use std::{net::IpAddr, sync::Arc};

use listen::{Manners, Switched};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::{Shared, websocket};
use crate::{
    rpc::{
        jsonrpc::{Caller, Methods},
        subscriptions::Session,
    },
    workers::Client,
};

/// What the requests of one connection share.
pub(super) struct Connection<M> {
    pub(super) shared: Arc<Shared<M>>,
    pub(super) peer: IpAddr,
}

impl<M: Methods> Connection<M> {
    pub(super) async fn serve(self, stream: TcpStream, stop: &CancellationToken) {
        let limits = &self.shared.limits;
        let manners = Manners {
            max_body_bytes: limits.max_body_bytes,
            transfer_timeout: limits.transfer_timeout,
            idle_timeout: limits.idle_timeout,
        };
        if let Some(Switched { stream, early, socket: is_page }) =
            listen::converse(stream, &self, &manners, stop).await
        {
            websocket::serve(&self, is_page, stream, early, stop).await;
        }
    }

    /// Whoever asks on it.
    pub(super) fn caller<'a>(&self, is_page: bool, session: Option<&'a mut Session>) -> Caller<'a> {
        Caller { client: Client::Peer(self.peer), is_page, session }
    }
}
