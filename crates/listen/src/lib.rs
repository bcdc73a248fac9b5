//! HTTP/1.1 servers: connections from accept to close, a bounded number of them, on threads of their own, seen out at the end.
//!
//! For the two servers of JSON-RPC, which are the hottest paths of the product: [`serve`] accepts, `threads` is where connections
//! live, [`converse`] reads requests and sends what a [`Handler`] answers. What it answers, and what is said on a WebSocket, is the
//! [`Server`]'s business. There is no framework below: requests are whole before they are answered and answers before they are
//! sent, so a request costs no task, no map of headers and one write.

mod acceptor;
mod budget;
mod conversation;
mod handler;
mod pieces;
mod response;
#[cfg(test)]
mod tests;
mod threads;
mod watch;
mod websocket;

use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;

pub use acceptor::{accept_connections, bind};
pub use budget::{Budget, Charge, Exhausted, Party};
pub use conversation::{converse, gone};
pub use handler::{BodyError, Handler, Manners, Step, Switched};
pub use http::{HeaderValue, StatusCode};
pub use http1::{Headers, Request};
pub use pieces::{Mark, Pieces};
pub use response::{Response, Value};
pub use websocket::{Metered, accept, is_upgrade};

use self::threads::{Arrival, Threads};

/// Connections being told why they are not served; beyond this they are just dropped.
const MAX_REFUSALS: usize = 64;
/// How long such a connection may take.
const REFUSAL_LIMIT: Duration = Duration::from_secs(1);
/// What is still read of a connection that is being closed, and for how long.
const MAX_DISCARDED: usize = 8 * 1024 * 1024;
const DISCARD_LIMIT: Duration = Duration::from_secs(1);

/// What is done with connections.
pub trait Server: Send + Sync + 'static {
    /// What is said to a connection for which there is no room.
    const FULL: &'static [u8];

    /// What is said to an address that may not connect; nothing if it may.
    fn stranger(&self, _: IpAddr) -> Option<&'static [u8]> {
        None
    }

    /// A permit that a connection of this address holds as long as it is open; none if the address has as many as it may. Asked
    /// before the connection takes anything, so that being refused takes nothing from others.
    fn admit(&self, _: IpAddr) -> Option<Permit> {
        Some(Box::new(()))
    }

    /// Serves a connection until it ends; `stop` tells it to come to an end.
    fn serve(
        self: Arc<Self>,
        stream: TcpStream,
        peer: IpAddr,
        stop: CancellationToken,
    ) -> impl Future<Output = ()> + Send;
}

/// Whatever gives something back when it is dropped.
pub type Permit = Box<dyn Send>;

/// How much of it there may be.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// Connections at a time.
    pub connections: usize,
    /// How long open connections may take to come to an end.
    pub drain: Duration,
}

/// Accepts connections until `shutdown`. Then the listener is closed, and what is open may come to an end. Fails if the threads, which
/// have this name, cannot be started.
pub async fn serve<S: Server>(
    name: &str,
    listener: TcpListener,
    server: Arc<S>,
    bounds: Bounds,
    shutdown: CancellationToken,
) -> io::Result<()> {
    let stop = CancellationToken::new();
    let threads = Threads::start(name, &server, &stop)?;
    let doorman = Doorman {
        server,
        places: Arc::new(Semaphore::new(bounds.connections)),
        refusals: Arc::new(Semaphore::new(MAX_REFUSALS)),
    };
    let receive = move |threads: &mut Threads, stream: TcpStream, peer: SocketAddr| {
        if let Some(arrival) = doorman.receive(stream, peer.ip())? {
            threads.take(arrival);
        }
        Ok(())
    };
    let mut threads = accept_connections(name, listener, threads, receive, shutdown).await?;
    stop.cancel();
    if tokio::time::timeout(bounds.drain, threads.see_out()).await.is_err() {
        tracing::warn!(open = threads.open(), "closing connections that did not finish in time");
    }
    Ok(())
}

/// Lets connections in as long as there is room.
struct Doorman<S> {
    server: Arc<S>,
    places: Arc<Semaphore>,
    refusals: Arc<Semaphore>,
}

impl<S: Server> Doorman<S> {
    /// A connection with its place; nothing if there is no room even to refuse it.
    fn receive(&self, stream: TcpStream, peer: IpAddr) -> io::Result<Option<Arrival>> {
        let stranger = self.server.stranger(peer);
        let place = || Some((self.server.admit(peer)?, Arc::clone(&self.places).try_acquire_owned().ok()?));
        let (place, refusal): (Permit, _) = match stranger.is_none().then(place).flatten() {
            Some(place) => (Box::new(place), None),
            None => match Arc::clone(&self.refusals).try_acquire_owned() {
                Ok(place) => (Box::new(place), Some(stranger.unwrap_or(S::FULL))),
                Err(_) => return Ok(None),
            },
        };
        // Leaves this thread's events; the one that serves it listens for its own.
        Ok(Some(Arrival { stream: stream.into_std()?, peer, place, refusal }))
    }
}

/// Ends a connection in a way that lets the client read what was said last: closing it with bytes unread would be a reset, which takes
/// that with it. Whoever does not come to an end in time, or goes on and on, has seen enough.
pub async fn see_off(mut stream: TcpStream) -> io::Result<()> {
    stream.shutdown().await?;
    let mut unread = [0u8; 4096];
    let mut left = MAX_DISCARDED;
    let listen = async {
        loop {
            match stream.read(&mut unread).await? {
                0 => return Ok(()),
                read if read >= left => return Ok(()),
                read => left -= read,
            }
        }
    };
    tokio::time::timeout(DISCARD_LIMIT, listen).await.unwrap_or(Ok(()))
}

/// Says why a connection is not served. What the caller has sent is read first, or the close would be a reset that takes the answer
/// with it.
pub(crate) async fn refuse(mut stream: TcpStream, answer: &[u8]) {
    let farewell = async {
        let mut unread = [0u8; 4096];
        let _ = stream.read(&mut unread).await?;
        stream.write_all(answer).await?;
        stream.shutdown().await?;
        while stream.read(&mut unread).await? > 0 {}
        Ok::<_, io::Error>(())
    };
    let _ = tokio::time::timeout(REFUSAL_LIMIT, farewell).await;
}
