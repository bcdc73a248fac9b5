//! The transport: HTTP/1.1 and WebSocket on one port, over hyper without a framework, because this is the hottest path of
//! the product. A connection is one task; requests on it are answered in place, never spawned.

mod body;
mod connection;
mod cors;
mod http;
mod watch;

use std::{net::IpAddr, sync::Arc, time::Duration};

use access::Client;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use self::connection::Connection;
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
/// traffic is told before, by [`Gateway::drain`].
pub async fn serve(listener: TcpListener, gateway: Arc<Gateway>, shutdown: CancellationToken) {
    let shared = Arc::new(Shared {
        clients: Places::new(gateway.config.limits.max_connections_per_client),
        gateway: Arc::clone(&gateway),
    });
    tokio::select! {
        () = accept(listener, shared, shutdown) => {}
        // The upstream has ended, which it does only with the process.
        () = gateway.run() => tracing::error!("the nodes are not followed any more"),
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, shutdown: CancellationToken) {
    let limits = &shared.gateway.config.limits;
    let mut doorman = Doorman {
        places: Arc::new(Semaphore::new(limits.max_connections)),
        refusals: Arc::new(Semaphore::new(MAX_REFUSALS)),
        stop: CancellationToken::new(),
        shared: Arc::clone(&shared),
        tasks: JoinSet::new(),
    };
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shutdown.cancelled() => break,
        };
        match accepted {
            Ok((stream, peer)) => doorman.take(stream, peer.ip()),
            Err(error) => {
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    doorman.stop.cancel();
    if tokio::time::timeout(limits.drain, doorman.see_out()).await.is_err() {
        tracing::warn!(open = doorman.tasks.len(), "closing connections that did not finish in time");
    }
}

/// Starts a task for each connection, as long as there is room.
struct Doorman {
    shared: Arc<Shared>,
    places: Arc<Semaphore>,
    refusals: Arc<Semaphore>,
    /// Told to all connections.
    stop: CancellationToken,
    tasks: JoinSet<()>,
}

impl Doorman {
    fn take(&mut self, stream: TcpStream, peer: IpAddr) {
        while self.tasks.try_join_next().is_some() {}
        if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            let connection = Connection::new(Arc::clone(&self.shared), peer, self.stop.clone());
            let open = self.shared.gateway.metrics.connections.clone();
            open.inc();
            self.tasks.spawn(async move {
                connection.serve(stream).await;
                drop(place);
                open.dec();
            });
        } else if let Ok(place) = Arc::clone(&self.refusals).try_acquire_owned() {
            self.tasks.spawn(async move {
                refuse(stream).await;
                drop(place);
            });
        }
    }

    /// Waits until the last connection has ended.
    async fn see_out(&mut self) {
        while self.tasks.join_next().await.is_some() {}
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
