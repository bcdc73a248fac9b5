//! The transport: HTTP/1.1 and WebSocket on one port, over hyper without a framework, because this is the hottest path of
//! the product. A connection is one task of one thread; requests on it are answered in place, never spawned.

mod body;
mod connection;
mod cors;
mod http;
mod shards;
mod watch;

use std::{io, net::IpAddr, sync::Arc, time::Duration};

use access::Client;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;

use self::shards::{Arrival, Shards};
use crate::{gateway::Gateway, places::Places};

/// Connections being told that the gateway is full; beyond this they are just dropped.
const MAX_REFUSALS: usize = 64;
/// Pause after a failed accept, so that running out of file descriptors does not become a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n\
    Content-Length: 125\r\nConnection: close\r\n\r\n\
    {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32002,\"message\":\"Too many connections\",\
    \"data\":{\"reason\":\"too_many_connections\"}}}";

/// What every connection shares.
pub(crate) struct Shared {
    pub(crate) gateway: Arc<Gateway>,
    /// Connections by client.
    pub(crate) clients: Places<Client>,
}

/// Answers JSON-RPC on a listener until `shutdown`. Then the listener is closed, and what is open may finish. Whoever spreads
/// traffic is told before, by [`Gateway::drain`]. Fails if the threads that serve cannot be started.
pub async fn serve(
    listener: TcpListener,
    gateway: Arc<Gateway>,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let shared = Arc::new(Shared {
        clients: Places::new(gateway.config.limits.max_connections_per_client),
        gateway: Arc::clone(&gateway),
    });
    let stop = CancellationToken::new();
    let shards = Shards::start(&shared, &stop)?;
    tokio::select! {
        () = accept(listener, &gateway, shards, stop, shutdown) => {}
        // The upstream has ended, which it does only with the process.
        () = gateway.run() => tracing::error!("the nodes are not followed any more"),
    }
    Ok(())
}

/// `stop` is told to all connections.
async fn accept(
    listener: TcpListener,
    gateway: &Gateway,
    mut shards: Shards,
    stop: CancellationToken,
    shutdown: CancellationToken,
) {
    let limits = &gateway.config.limits;
    let doorman = Doorman {
        places: Arc::new(Semaphore::new(limits.max_connections)),
        refusals: Arc::new(Semaphore::new(MAX_REFUSALS)),
    };
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.cancelled() => break,
        };
        let arrival = accepted.and_then(|(stream, peer)| doorman.receive(stream, peer.ip()));
        match arrival {
            Ok(Some(arrival)) => shards.take(arrival),
            Ok(None) => {}
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    stop.cancel();
    if tokio::time::timeout(limits.drain, shards.see_out()).await.is_err() {
        tracing::warn!(open = shards.open(), "closing connections that did not finish in time");
    }
}

/// Lets connections in as long as there is room.
struct Doorman {
    places: Arc<Semaphore>,
    refusals: Arc<Semaphore>,
}

impl Doorman {
    /// A connection with its place; nothing if there is no room even to refuse it.
    fn receive(&self, stream: TcpStream, peer: IpAddr) -> io::Result<Option<Arrival>> {
        let (place, has_room) = match Arc::clone(&self.places).try_acquire_owned() {
            Ok(place) => (place, true),
            Err(_) => match Arc::clone(&self.refusals).try_acquire_owned() {
                Ok(place) => (place, false),
                Err(_) => return Ok(None),
            },
        };
        // Leaves this thread's events; the one that serves it listens for its own.
        Ok(Some(Arrival { stream: stream.into_std()?, peer, place, has_room }))
    }
}

/// Says that the gateway is full. What the caller has sent is read first, or the close would be a reset that takes our
/// answer with it.
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
