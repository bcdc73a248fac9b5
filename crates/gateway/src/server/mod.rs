//! The transport: HTTP/1.1 and WebSocket on one port (`listen`). A connection is one task of one thread; requests on it are answered
//! in place, never spawned.

mod connection;
mod cors;
mod http;

use std::{io, net::IpAddr, sync::Arc};

use access::{Client, LastKey, is_trusted_proxy};
use listen::{Bounds, Budget, Permit, Server};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use self::connection::Connection;
use crate::gateway::Gateway;

const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n\
    Content-Length: 125\r\nConnection: close\r\n\r\n\
    {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32002,\"message\":\"Too many connections\",\
    \"data\":{\"reason\":\"too_many_connections\"}}}";

/// What every connection shares.
pub(crate) struct Shared {
    pub(crate) gateway: Arc<Gateway>,
    /// Connections by client.
    pub(crate) clients: Budget<Client>,
}

impl Server for Shared {
    const FULL: &'static [u8] = FULL;

    fn admit(&self, peer: IpAddr) -> Option<Permit> {
        match self.clients.take(peer.into(), 1) {
            Ok(charge) => Some(Box::new(charge)),
            // A proxy that we trust stands for many clients.
            Err(_) if is_trusted_proxy(peer, &self.gateway.access.trusted_proxies) => Some(Box::new(())),
            Err(_) => None,
        }
    }

    async fn serve(self: Arc<Self>, stream: TcpStream, peer: IpAddr, stop: CancellationToken) {
        let open = self.gateway.metrics.connections.clone();
        open.inc();
        Connection { shared: self, peer, last_key: LastKey::default() }.serve(stream, &stop).await;
        open.dec();
    }
}

/// Answers JSON-RPC on a listener until `shutdown`. Then the listener is closed, and what is open may finish. Whoever spreads
/// traffic is told before, by [`Gateway::drain`]. Fails if the threads that serve cannot be started.
pub async fn serve(
    listener: TcpListener,
    gateway: Arc<Gateway>,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let limits = &gateway.config.limits;
    let shared = Arc::new(Shared {
        clients: Budget::per_party(limits.max_connections_per_client),
        gateway: Arc::clone(&gateway),
    });
    let bounds = Bounds { connections: limits.max_connections, drain: limits.drain };
    tokio::select! {
        served = listen::serve("gateway", listener, shared, bounds, shutdown) => served,
        // The upstream has ended, which it does only with the process.
        () = gateway.run() => {
            tracing::error!("the nodes are not followed any more");
            Ok(())
        }
    }
}
