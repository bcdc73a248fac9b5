//! Connections: accepting, serving HTTP/1.1 on each, and draining at the end. How many there are, in all and of one client, is bounded,
//! and so is how long each may keep us waiting.

mod admission;
mod stream;
#[cfg(test)]
mod tests;

use std::{
    convert::Infallible,
    net::{IpAddr, SocketAddr, TcpStream as StdStream},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use bytes::Bytes;
use hyper::{
    Request, Response,
    body::{Body, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use ipnet::IpNet;
use listen::accept_connections;
use tokio::{
    net::{TcpListener, TcpStream},
    runtime::Handle,
};
use tokio_util::sync::CancellationToken;

use self::{
    admission::{Admission, ConnectionPermit},
    stream::BoundedStream,
};
use crate::edge::Edge;

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
            per_client: 256,
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
    // Connections are served where this runs, and only accepted elsewhere.
    let (serving, stopping) = (Handle::current(), shutdown.clone());
    let receive = move |admission: &mut Admission, stream: TcpStream, peer: SocketAddr| {
        let Some(permit) = admission.admit(peer.ip()) else {
            admission.refuse(stream);
            return Ok(());
        };
        let (stream, limits) = (stream.into_std()?, admission.limits.clone());
        let (answer, stopping) = (answer.clone(), stopping.clone());
        serving.spawn(async move {
            if let Err(error) = serve_connection(stream, peer, permit, answer, &limits, stopping).await {
                tracing::debug!(%error, %peer, "a connection ended early");
            }
        });
        Ok(())
    };
    match accept_connections("http", listener, Admission::new(limits), receive, shutdown).await {
        Ok(admission) => admission.drained().await,
        Err(error) => tracing::error!(%error, "connections are no longer accepted"),
    }
}

/// Requests that were sent without waiting for answers. They are answered one after the other, but not in one go: others have
/// their turn in between.
struct Pipeline {
    started: Instant,
    /// When the last answer was ready, in microseconds after the start.
    answered: AtomicU64,
}

impl Default for Pipeline {
    fn default() -> Self {
        Self { started: Instant::now(), answered: AtomicU64::new(u64::MAX) }
    }
}

impl Pipeline {
    /// No client gets an answer and sends the next request in so short a time.
    const ROUND_TRIP_MICROS: u64 = 10;

    async fn yield_if_pipelined(&self) {
        let answered = self.answered.load(Ordering::Relaxed);
        if self.now().saturating_sub(answered) < Self::ROUND_TRIP_MICROS && answered != u64::MAX {
            tokio::task::yield_now().await;
        }
    }

    fn answered(&self) {
        self.answered.store(self.now(), Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

async fn serve_connection<A, F, B>(
    stream: StdStream,
    peer: SocketAddr,
    permit: ConnectionPermit,
    answer: A,
    limits: &ConnectionLimits,
    shutdown: CancellationToken,
) -> Result<(), axum::BoxError>
where
    A: Fn(IpAddr, Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + 'static,
{
    let stream = TcpStream::from_std(stream)?;
    // Answers are written whole; waiting to fill packets would only delay them.
    let _ = stream.set_nodelay(true);
    let stream = TokioIo::new(BoundedStream::new(stream, limits.write_time_limit));
    let (permit, pipeline) = (Arc::new(permit), Arc::new(Pipeline::default()));
    let service = service_fn(move |request: Request<Incoming>| {
        let (permit, pipeline, answer) = (Arc::clone(&permit), Arc::clone(&pipeline), answer.clone());
        async move {
            pipeline.yield_if_pipelined().await;
            let _request = permit.acquire_request().await;
            let response = answer(peer.ip(), request).await;
            pipeline.answered();
            Ok::<_, Infallible>(response)
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.head_time_limit)
        .serve_connection(stream, service)
        .with_upgrades();
    let mut connection = pin!(connection);
    tokio::select! {
        ended = connection.as_mut() => Ok(ended?),
        () = shutdown.cancelled() => {
            connection.as_mut().graceful_shutdown();
            Ok(connection.await?)
        }
    }
}
