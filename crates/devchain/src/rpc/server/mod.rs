//! The transport: HTTP/1.1 and WebSocket on one port, over hyper without a framework, because this is the
//! chain's hottest path. A connection is one task; requests on it are answered in place, never spawned.
//!
//! Owns connections, limits, timeouts and headers; knows nothing of methods.

mod body;
mod connection;
mod gate;
mod http;
mod watch;
mod websocket;

#[cfg(test)]
mod tests;

use std::{sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use self::connection::Connection;
use super::{
    config::{Cors, Hosts, Limits},
    jsonrpc::Methods,
};

/// Connections being told that the server is full; beyond this they are just dropped.
const MAX_REFUSALS: usize = 64;
/// How long open requests may take to finish once the server is told to stop.
const DRAIN: Duration = Duration::from_secs(5);
/// Pause after a failed accept, so that running out of file descriptors does not become a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

const FULL: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n\
    Content-Length: 34\r\nConnection: close\r\n\r\n{\"message\":\"Too many connections.\"}";

/// What every connection shares.
pub(super) struct Shared<M> {
    pub(super) methods: Arc<M>,
    pub(super) cors: Cors,
    pub(super) hosts: Hosts,
    pub(super) limits: Limits,
}

/// Accepts connections until told to stop, then lets the open requests finish.
pub(super) async fn run<M: Methods>(listener: TcpListener, shared: Shared<M>, stop: CancellationToken) {
    let shared = Arc::new(shared);
    let places = Arc::new(Semaphore::new(shared.limits.max_connections));
    let refusals = Arc::new(Semaphore::new(MAX_REFUSALS));
    let mut tasks = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        while tasks.try_join_next().is_some() {}
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            }
        };
        if let Ok(place) = Arc::clone(&places).try_acquire_owned() {
            let connection = Connection::new(Arc::clone(&shared), stop.clone());
            tasks.spawn(async move {
                connection.serve(stream).await;
                drop(place);
            });
        } else if let Ok(place) = Arc::clone(&refusals).try_acquire_owned() {
            tasks.spawn(async move {
                refuse(stream).await;
                drop(place);
            });
        }
    }
    drop(listener);
    let drained = tokio::time::timeout(DRAIN, async { while tasks.join_next().await.is_some() {} }).await;
    if drained.is_err() {
        tracing::warn!(open = tasks.len(), "closing connections that did not finish in time");
    }
}

/// Says that the server is full. What the caller has sent is read first, or the close would be a reset that
/// takes our answer with it.
async fn refuse(mut stream: TcpStream) {
    let farewell = async {
        let mut unread = [0u8; 4096];
        let _ = stream.read(&mut unread).await?;
        stream.write_all(FULL).await?;
        stream.shutdown().await?;
        while stream.read(&mut unread).await? > 0 {}
        Ok::<_, std::io::Error>(())
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), farewell).await;
}
