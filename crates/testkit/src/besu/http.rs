//! Besu's HTTP port: so many connections and no more, names that it answers to, and bodies of unknown length.

use std::{convert::Infallible, sync::Arc};

use bytes::Bytes;
use http_body_util::{BodyExt, Limited, StreamBody, combinators::UnsyncBoxBody};
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::{Frame, Incoming},
    header,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpListener;

use super::{
    exchange::{Exchange, Reply},
    seats::receive,
};
use crate::RpcClient;

pub(super) type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Serves the port for ever.
pub(super) async fn serve(listener: TcpListener, exchange: Arc<Exchange>) {
    receive(listener, exchange, |stream, exchange| async move {
        let node = RpcClient::new(exchange.node);
        let service = service_fn(|request| answer(&exchange, &node, request));
        // Pieces of an answer go out as they come.
        let _ = stream.set_nodelay(true);
        drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
    })
    .await;
}

async fn answer(
    exchange: &Exchange,
    node: &RpcClient,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    if !is_addressed(exchange, request.headers()) {
        return Ok(forbidden());
    }
    Ok(match (request.method(), request.uri().path()) {
        (&Method::POST, "/") => post(exchange, node, request.into_body()).await,
        // A sign of life for load balancers, and all that a WebSocket finds here.
        (&Method::GET, "/") => plain(StatusCode::CREATED, ""),
        (&Method::GET, "/liveness" | "/readiness") => plain(StatusCode::OK, r#"{"status":"UP"}"#),
        (_, "/") => plain(StatusCode::METHOD_NOT_ALLOWED, ""),
        _ => plain(StatusCode::NOT_FOUND, "<html><body><h1>Resource not found</h1></body></html>"),
    })
}

async fn post(exchange: &Exchange, node: &RpcClient, body: Incoming) -> Response<Body> {
    let Ok(message) = Limited::new(body, exchange.settings.max_body).collect().await else {
        return plain(StatusCode::PAYLOAD_TOO_LARGE, "");
    };
    match exchange.answer(node, &message.to_bytes()).await {
        Reply::Answer(Some(answer)) => streamed(StatusCode::OK, &answer),
        Reply::Answer(None) => plain(StatusCode::OK, ""),
        Reply::Malformed(answer) => streamed(StatusCode::BAD_REQUEST, &answer),
    }
}

/// Whether the caller used a name that this Besu listens to.
pub(super) fn is_addressed(exchange: &Exchange, headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    exchange.settings.hosts.iter().any(|known| known == "*" || known.eq_ignore_ascii_case(name))
}

pub(super) fn forbidden() -> Response<Body> {
    plain(StatusCode::FORBIDDEN, r#"{"message":"Host not authorized."}"#)
}

pub(super) fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let body = http_body_util::Full::new(Bytes::from_static(text.as_bytes())).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    response
}

/// Besu writes results as it makes them, in chunks.
fn streamed(status: StatusCode, answer: &Value) -> Response<Body> {
    let text = Bytes::from(answer.to_string());
    let half = text.len() / 2;
    let pieces = [text.slice(..half), text.slice(half..)].map(|piece| Ok(Frame::data(piece)));
    let body = StreamBody::new(futures_util::stream::iter(pieces)).boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let json = header::HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response
}
