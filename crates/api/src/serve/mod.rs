//! Connections: accepting, serving HTTP/1.1 on each, and draining at the end.

use std::{
    net::{IpAddr, SocketAddr},
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
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::sync::CancellationToken;

use crate::edge::Edge;

/// How long a client may take to send its request's head; also ends idle connections.
const HEAD_TIME_LIMIT: Duration = Duration::from_secs(60);
/// How long answers under way may take once the end has begun.
const DRAIN_TIME_LIMIT: Duration = Duration::from_secs(10);
/// How long to rest when no connection can be accepted, such as for want of file descriptors.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);
const MOST_CONNECTIONS: u32 = 10_000;

/// Serves an edge until `shutdown` is cancelled, then lets the answers under way finish.
pub async fn serve(listener: TcpListener, edge: Edge, shutdown: CancellationToken) {
    let follower = {
        let (edge, shutdown) = (edge.clone(), shutdown.clone());
        tokio::spawn(async move { shutdown.run_until_cancelled(edge.follow()).await })
    };
    let answer = move |peer, request| {
        let edge = edge.clone();
        async move { edge.answer(peer, request).await }
    };
    serve_with(listener, answer, shutdown).await;
    follower.abort();
}

/// Serves whatever `answer` says to requests from an address until `shutdown` is cancelled, then lets the answers under way
/// finish.
pub async fn serve_with<A, F, B>(listener: TcpListener, answer: A, shutdown: CancellationToken)
where
    A: Fn(IpAddr, Request<Incoming>) -> F + Clone + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + 'static,
{
    let slots = Arc::new(Semaphore::new(MOST_CONNECTIONS as usize));
    loop {
        let accepted = async {
            let slot = slots.clone().acquire_owned().await.ok()?;
            Some((slot, listener.accept().await))
        };
        let (slot, accepted) = match shutdown.run_until_cancelled(accepted).await {
            Some(Some(next)) => next,
            Some(None) | None => break,
        };
        match accepted {
            Ok((stream, peer)) => {
                let connection = serve_connection(stream, peer, answer.clone(), shutdown.clone());
                tokio::spawn(async move {
                    connection.await;
                    drop(slot);
                });
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    // Every slot is free again when the last connection has ended.
    if tokio::time::timeout(DRAIN_TIME_LIMIT, slots.acquire_many(MOST_CONNECTIONS)).await.is_err() {
        tracing::warn!("connections were cut at the end");
    }
}

async fn serve_connection<A, F, B>(
    stream: TcpStream,
    peer: SocketAddr,
    answer: A,
    shutdown: CancellationToken,
) where
    A: Fn(IpAddr, Request<Incoming>) -> F + Send + 'static,
    F: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data = Bytes, Error: Into<axum::BoxError>> + Send + 'static,
{
    // Answers are written whole; waiting to fill packets would only delay them.
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request: Request<Incoming>| {
        let answer = answer(peer.ip(), request);
        async move { Ok::<_, std::convert::Infallible>(answer.await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME_LIMIT)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
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
