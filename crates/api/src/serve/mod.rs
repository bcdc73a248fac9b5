//! Connections: accepting, serving HTTP/1.1 on each, and draining at the end. How many there are, in all and of one client, is bounded,
//! and so is how long each may keep us waiting.

mod stream;
#[cfg(test)]
mod tests;

use std::{
    net::{IpAddr, SocketAddr},
    pin::pin,
    sync::Arc,
    time::Duration,
};

use access::{Client, OwnedPermit, Permits, is_trusted_proxy};
use bytes::Bytes;
use hyper::{
    Request, Response,
    body::{Body, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use ipnet::IpNet;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::sync::CancellationToken;

use self::stream::BoundedStream;
use crate::{code::Code, edge::Edge, problem::Problem};

/// How long answers under way may take once the end has begun.
const DRAIN_TIME_LIMIT: Duration = Duration::from_secs(10);
/// How long to rest when no connection can be accepted, such as for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
/// Connections at a time that are told why they are not served; beyond them they are just closed.
const MOST_REFUSALS: usize = 64;
/// How long such a connection may take.
const REFUSAL_TIME_LIMIT: Duration = Duration::from_secs(1);

/// Bounds on what connections can take.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Connections at a time.
    pub connections: u32,
    /// Connections of one client at a time. Proxies that are trusted stand for many clients and have no bound of their own.
    pub per_client: usize,
    /// Proxies that are trusted.
    pub trusted_proxies: Vec<IpNet>,
    /// How long a client may take to send its request's head; also ends idle connections.
    pub head_time_limit: Duration,
    /// How long a client may leave an answer, or events of a stream, unread.
    pub write_time_limit: Duration,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections: 10_000,
            per_client: 500,
            trusted_proxies: Vec::new(),
            head_time_limit: Duration::from_secs(60),
            write_time_limit: Duration::from_secs(30),
        }
    }
}

/// Serves an edge until `shutdown` is cancelled, then lets the answers under way finish.
pub async fn serve(listener: TcpListener, edge: Edge, shutdown: CancellationToken) {
    let follower = {
        let (edge, shutdown) = (edge.clone(), shutdown.clone());
        tokio::spawn(async move { shutdown.run_until_cancelled(edge.follow()).await })
    };
    let limits = edge.connection_limits();
    let answer = move |peer, request| {
        let edge = edge.clone();
        async move { edge.answer(peer, request).await }
    };
    serve_with(listener, answer, limits, shutdown).await;
    follower.abort();
}

/// Serves whatever `answer` says to requests from an address until `shutdown` is cancelled, then lets the answers under way
/// finish.
pub async fn serve_with<A, F, B>(
    listener: TcpListener,
    answer: A,
    limits: ConnectionLimits,
    shutdown: CancellationToken,
) where
    A: Fn(IpAddr, Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + 'static,
{
    let admission = Admission::new(limits);
    while let Some(accepted) = shutdown.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((stream, peer)) => match admission.admit(peer.ip()) {
                Some(permit) => {
                    let connection =
                        serve_connection(stream, peer, answer.clone(), &admission.limits, shutdown.clone());
                    tokio::spawn(async move {
                        connection.await;
                        drop(permit);
                    });
                }
                None => admission.refuse(stream),
            },
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    admission.drained().await;
}

/// Who may connect.
struct Admission {
    limits: ConnectionLimits,
    all: Arc<Semaphore>,
    clients: Arc<Permits<Client>>,
    refusals: Arc<Semaphore>,
    /// What they are told.
    refusal: Bytes,
}

/// A connection's permit among all, and among those of its client.
type ConnectionPermit = (OwnedSemaphorePermit, Option<OwnedPermit<Client>>);

impl Admission {
    fn new(limits: ConnectionLimits) -> Self {
        Self {
            all: Arc::new(Semaphore::new(limits.connections as usize)),
            clients: Arc::new(Permits::new(limits.per_client)),
            refusals: Arc::new(Semaphore::new(MOST_REFUSALS)),
            refusal: refusal(),
            limits,
        }
    }

    fn admit(&self, peer: IpAddr) -> Option<ConnectionPermit> {
        let client = self.clients.take_owned(peer.into());
        if client.is_none() && !is_trusted_proxy(peer, &self.limits.trusted_proxies) {
            return None;
        }
        Some((Arc::clone(&self.all).try_acquire_owned().ok()?, client))
    }

    /// Says why a connection is not served. What the client has sent is read first, or the close would be a reset that takes the
    /// answer with it.
    fn refuse(&self, mut stream: TcpStream) {
        let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else { return };
        let refusal = self.refusal.clone();
        tokio::spawn(async move {
            let telling = async {
                let mut unread = [0; 4096];
                let _ = stream.read(&mut unread).await?;
                stream.write_all(&refusal).await?;
                stream.shutdown().await?;
                while stream.read(&mut unread).await? > 0 {}
                Ok::<_, std::io::Error>(())
            };
            let _ = tokio::time::timeout(REFUSAL_TIME_LIMIT, telling).await;
            drop(permit);
        });
    }

    /// Waits, not long, until the last connection has ended: then every permit is free again.
    async fn drained(&self) {
        let all = self.all.acquire_many(self.limits.connections);
        if tokio::time::timeout(DRAIN_TIME_LIMIT, all).await.is_err() {
            tracing::warn!("connections were cut at the end");
        }
    }
}

/// What a connection is told for which there is no room: no request of it has been read, so that there is no id to tell.
fn refusal() -> Bytes {
    let body = Problem::new(Code::TooManyConnections, Code::TooManyConnections.meaning()).to_json("none");
    let head = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), &body].concat().into()
}

fn serve_connection<A, F, B>(
    stream: TcpStream,
    peer: SocketAddr,
    answer: A,
    limits: &ConnectionLimits,
    shutdown: CancellationToken,
) -> impl Future<Output = ()> + Send + use<A, F, B>
where
    A: Fn(IpAddr, Request<Incoming>) -> F + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + 'static,
{
    // Answers are written whole; waiting to fill packets would only delay them.
    let _ = stream.set_nodelay(true);
    let stream = TokioIo::new(BoundedStream::new(stream, limits.write_time_limit));
    let service = service_fn(move |request: Request<Incoming>| {
        let answer = answer(peer.ip(), request);
        async move { Ok::<_, std::convert::Infallible>(answer.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time_limit)
        .serve_connection(stream, service)
        .with_upgrades();
    async move {
        let mut connection = pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = shutdown.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, %peer, "a connection ended early");
        }
    }
}
