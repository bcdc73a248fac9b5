//! One connection from accept to close, through an upgrade to WebSocket if there is one.

use std::{net::IpAddr, pin::pin, sync::Arc};

use hyper::{server::conn::http1, service::service_fn, upgrade::OnUpgrade};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::{FULL, Shared, http, watch::Watch};
use crate::socket::{self, TakenSeat};

/// What the requests of one connection share.
pub(super) struct Connection {
    pub(super) shared: Arc<Shared>,
    pub(super) peer: IpAddr,
    pub(super) watch: Watch,
    /// Left behind by a request that asked for a WebSocket.
    pub(super) upgrade: Mutex<Option<(OnUpgrade, TakenSeat)>>,
    stop: CancellationToken,
}

impl Connection {
    pub(super) fn new(shared: Arc<Shared>, peer: IpAddr, stop: CancellationToken) -> Self {
        Self { shared, peer, watch: Watch::new(), upgrade: Mutex::new(None), stop }
    }

    pub(super) async fn serve(self, stream: TcpStream) {
        let gateway = &self.shared.gateway;
        // A proxy that we trust stands for many clients.
        let is_proxy =
            gateway.access.trusted_proxies.iter().any(|net| net.contains(&self.peer.to_canonical()));
        let place = self.shared.clients.take(self.peer.into());
        if place.is_none() && !is_proxy {
            return listen::refuse(stream, FULL).await;
        }
        // Answers are small and awaited: never hold them back to fill a segment.
        if stream.set_nodelay(true).is_ok() && self.serve_http(stream).await {
            let upgrade = self.upgrade.lock().take();
            if let Some((upgrade, seat)) = upgrade
                && let Ok(io) = upgrade.await
            {
                socket::serve(gateway, seat, TokioIo::new(io), &self.stop).await;
            }
        }
    }

    /// Answers requests until the connection ends or is upgraded; false if it had to be given up.
    async fn serve_http(&self, stream: TcpStream) -> bool {
        let limits = &self.shared.gateway.config.limits;
        let service = service_fn(|request| http::answer(self, request));
        let http = http1::Builder::new()
            .max_headers(64)
            .max_buf_size(64 * 1024)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        let mut http = pin!(http);
        let mut overdue = pin!(self.watch.overdue(limits));
        let mut stopping = false;
        loop {
            tokio::select! {
                ended = http.as_mut() => return ended.is_ok(),
                reason = overdue.as_mut() => {
                    tracing::debug!(%reason, "closing a connection");
                    return false;
                }
                () = self.stop.cancelled(), if !stopping => {
                    stopping = true;
                    http.as_mut().graceful_shutdown();
                }
            }
        }
    }
}
