//! One HTTP request: which path and method, which headers, and the JSON-RPC message inside.

use std::convert::Infallible;

use bytes::Bytes;
use hyper::{
    HeaderMap, Method, Request, Response, StatusCode,
    body::Incoming,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_MAX_AGE, ALLOW, CONNECTION, CONTENT_TYPE, HeaderValue, VARY,
    },
};
use listen::BodyError;

use super::{body::Pieces, connection::Connection, gate, websocket};
use crate::rpc::{
    config::Cors,
    jsonrpc::{Answer, Caller, Methods, answer_message},
};

const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// Answers one request; failures of the connection show when hyper goes on with it.
pub(super) async fn answer<M: Methods>(
    connection: &Connection<M>,
    request: Request<Incoming>,
) -> Result<Response<Pieces>, Infallible> {
    let shared = &connection.shared;
    if !gate::host_allowed(&shared.hosts, request.headers()) {
        return Ok(message(StatusCode::FORBIDDEN, r#"{"message":"Host not authorized."}"#));
    }
    let origin = gate::allowed_origin(&shared.cors, request.headers());
    let mut response = route(connection, request).await;
    if let Some(origin) = origin {
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        if matches!(shared.cors, Cors::Origins(_)) {
            headers.insert(VARY, HeaderValue::from_static("Origin"));
        }
    }
    Ok(response)
}

async fn route<M: Methods>(connection: &Connection<M>, request: Request<Incoming>) -> Response<Pieces> {
    let methods = &connection.shared.methods;
    match (request.method(), request.uri().path()) {
        (&Method::POST, "/") => post(connection, request.into_body()).await,
        (&Method::GET, "/") if websocket::is_upgrade(request.headers()) => upgrade(connection, request),
        (&Method::GET, "/liveness") => message(StatusCode::OK, r#"{"status":"UP"}"#),
        (&Method::GET, "/readiness") if methods.is_ready() => message(StatusCode::OK, r#"{"status":"UP"}"#),
        (&Method::GET, "/readiness") => message(StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"DOWN"}"#),
        (&Method::OPTIONS, "/") => preflight(),
        (_, "/") => {
            let mut response = message(StatusCode::METHOD_NOT_ALLOWED, r#"{"message":"Use POST."}"#);
            response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST, OPTIONS"));
            response
        }
        _ => message(StatusCode::NOT_FOUND, r#"{"message":"Not found."}"#),
    }
}

async fn post<M: Methods>(connection: &Connection<M>, incoming: Incoming) -> Response<Pieces> {
    let shared = &connection.shared;
    connection.watch.awaits_body();
    let message = match listen::read_body(incoming, shared.limits.max_body_bytes).await {
        Ok(message) => message,
        Err(error) => {
            connection.watch.awaits_caller();
            return unreadable(&error);
        }
    };
    connection.watch.works();
    let reply = answer_message(&shared.methods, &message, Caller::Http).await;
    connection.watch.awaits_caller();
    let mut response = rpc_response(reply.answer);
    if reply.malformed {
        *response.status_mut() = StatusCode::BAD_REQUEST;
    }
    response
}

fn rpc_response(answer: Answer) -> Response<Pieces> {
    let mut response = Response::new(answer.into_body());
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

fn unreadable(error: &BodyError) -> Response<Pieces> {
    let (status, text) = match error {
        BodyError::TooLong(_) => (StatusCode::PAYLOAD_TOO_LARGE, r#"{"message":"Request body too large."}"#),
        BodyError::Broken(_) => (StatusCode::BAD_REQUEST, r#"{"message":"Request body incomplete."}"#),
    };
    let mut response = message(status, text);
    // The rest of the body is not worth reading to save the connection.
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

fn upgrade<M: Methods>(connection: &Connection<M>, mut request: Request<Incoming>) -> Response<Pieces> {
    let headers: &HeaderMap = request.headers();
    if !gate::page_may_connect(&connection.shared.cors, headers) {
        return message(StatusCode::FORBIDDEN, r#"{"message":"Origin not authorized."}"#);
    }
    match websocket::accept(headers) {
        Some(response) => {
            *connection.upgrade.lock() = Some(hyper::upgrade::on(&mut request));
            response.map(|()| Pieces::one(Bytes::new()))
        }
        None => message(StatusCode::BAD_REQUEST, r#"{"message":"Bad WebSocket handshake."}"#),
    }
}

fn preflight() -> Response<Pieces> {
    let mut response = Response::new(Pieces::one(Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, OPTIONS"));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*, Authorization, Content-Type"));
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}

fn message(status: StatusCode, json: &'static str) -> Response<Pieces> {
    let mut response = Response::new(Pieces::one(Bytes::from_static(json.as_bytes())));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

impl Answer {
    fn into_body(self) -> Pieces {
        if self.is_one_piece() { Pieces::one(self.into_bytes()) } else { Pieces::many(self.into_pieces()) }
    }
}
