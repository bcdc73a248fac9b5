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
    sync::Arc,
    time::Duration,
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
    let permit = Arc::new(permit);
    let service = service_fn(move |request: Request<Incoming>| {
        let (permit, answer) = (Arc::clone(&permit), answer.clone());
        async move {
            let _turn = permit.turn().await;
            Ok::<_, Infallible>(answer(peer.ip(), request).await)
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
