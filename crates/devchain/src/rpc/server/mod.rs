//! The transport: HTTP/1.1 and WebSocket on one port (`listen`). A connection is one task of one thread; requests on it are answered
//! in place, never spawned.
//!
//! Owns limits, timeouts and headers; knows nothing of methods.

mod connection;
mod gate;
mod http;
mod websocket;

#[cfg(test)]
mod tests;

use std::{io, net::IpAddr, sync::Arc, time::Duration};

use ipnet::IpNet;
use listen::{Bounds, Budget, Permit, Server};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use self::connection::Connection;
use super::{
    config::{Cors, Hosts, Limits},
    jsonrpc::Methods,
};

/// How long open requests may take to finish once the server is told to stop.
const DRAIN: Duration = Duration::from_secs(5);

const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n\
    Content-Length: 34\r\nConnection: close\r\n\r\n{\"message\":\"Too many connections.\"}";
/// What is answered instead of a long answer for which there is no room.
const NO_ROOM: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"Too many bytes under way: read what was answered first"}}"#;
const STRANGER: &[u8] = b"HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\n\
    Content-Length: 37\r\nConnection: close\r\n\r\n{\"message\":\"Address not authorized.\"}";

/// What every connection shares.
pub(super) struct Shared<M> {
    pub(super) methods: Arc<M>,
    pub(super) cors: Cors,
    pub(super) hosts: Hosts,
    pub(super) peers: Vec<IpNet>,
    pub(super) limits: Limits,
    /// Connections by address.
    pub(super) clients: Budget<IpAddr>,
    /// Long requests and answers that are under way.
    pub(super) buffers: Budget<IpAddr>,
}

impl<M: Methods> Server for Shared<M> {
    const FULL: &'static [u8] = FULL;

    fn stranger(&self, peer: IpAddr) -> Option<&'static [u8]> {
        (!gate::peer_allowed(&self.peers, peer)).then_some(STRANGER)
    }

    fn admit(&self, peer: IpAddr) -> Option<Permit> {
        Some(Box::new(self.clients.take(peer.to_canonical(), 1).ok()?))
    }

    async fn serve(self: Arc<Self>, stream: TcpStream, peer: IpAddr, stop: CancellationToken) {
        Connection { shared: self, peer: peer.to_canonical() }.serve(stream, &stop).await;
    }
}

/// Accepts connections until told to stop, then lets the open requests finish.
pub(super) async fn run<M: Methods>(
    listener: TcpListener,
    shared: Shared<M>,
    stop: CancellationToken,
) -> io::Result<()> {
    let bounds = Bounds { connections: shared.limits.max_connections, drain: DRAIN };
    listen::serve("node-rpc", listener, Arc::new(shared), bounds, stop).await
}
