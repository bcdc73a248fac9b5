//! One connection from accept to close, through an upgrade to WebSocket if there is one.

use std::{pin::pin, sync::Arc};

use hyper::{server::conn::http1, service::service_fn, upgrade::OnUpgrade};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::{Shared, http, watch::Watch, websocket};
use crate::rpc::jsonrpc::Methods;

/// What the requests of one connection share.
pub(super) struct Connection<M> {
    pub(super) shared: Arc<Shared<M>>,
    pub(super) watch: Watch,
    /// Left behind by a request that asked for a WebSocket.
    pub(super) upgrade: Mutex<Option<OnUpgrade>>,
    stop: CancellationToken,
}

impl<M: Methods> Connection<M> {
    pub(super) fn new(shared: Arc<Shared<M>>, stop: CancellationToken) -> Self {
        Self { shared, watch: Watch::new(), upgrade: Mutex::new(None), stop }
    }

    pub(super) async fn serve(self, stream: TcpStream) {
        // Answers are small and awaited: never hold them back to fill a segment.
        if stream.set_nodelay(true).is_err() || !self.serve_http(stream).await {
            return;
        }
        let upgrade = self.upgrade.lock().take();
        if let Some(upgrade) = upgrade
            && let Ok(io) = upgrade.await
        {
            websocket::serve(&self.shared, TokioIo::new(io), &self.stop).await;
        }
    }

    /// Answers requests until the connection ends or is upgraded; false if it had to be given up.
    async fn serve_http(&self, stream: TcpStream) -> bool {
        let service = service_fn(|request| http::answer(self, request));
        // No `pipeline_flush`: with it hyper holds back the 400 to a broken head, whose bytes are never consumed.
        let http = http1::Builder::new()
            .max_headers(64)
            .serve_connection(TokioIo::new(stream), service)
            .with_upgrades();
        let mut http = pin!(http);
        let mut overdue = pin!(self.watch.overdue(&self.shared.limits));
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
