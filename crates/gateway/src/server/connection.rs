//! One connection from accept to close, through a change to WebSocket if there is one.

use std::{net::IpAddr, sync::Arc};

use access::LastKey;
use listen::{Manners, Switched};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::socket;

/// What the requests of one connection share.
pub(super) struct Connection {
    pub(super) shared: Arc<Shared>,
    pub(super) peer: IpAddr,
    pub(super) last_key: LastKey,
}

impl Connection {
    pub(super) async fn serve(self, stream: TcpStream, stop: &CancellationToken) {
        let gateway = &self.shared.gateway;
        let limits = &gateway.config.limits;
        let manners = Manners {
            max_body_bytes: limits.max_body_bytes,
            transfer_timeout: limits.transfer_timeout,
            idle_timeout: limits.idle_timeout,
        };
        if let Some(Switched { stream, early, socket: seat }) =
            listen::converse(stream, &self, &manners, stop).await
        {
            socket::serve(gateway, seat, stream, early, stop).await;
        }
    }
}
