//! One HTTP request: which path and method, who asks, and the JSON-RPC message inside.
//!
//! Keys may stand in the path, so no path is ever logged.

use std::convert::Infallible;

use access::{KeyringHealth, Sharing};
use bytes::Bytes;
use hyper::{
    Method, Request, Response, StatusCode,
    body::Incoming,
    header::{
        ALLOW, CACHE_CONTROL, CONNECTION, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName, HeaderValue,
        RETRY_AFTER, WWW_AUTHENTICATE, X_CONTENT_TYPE_OPTIONS,
    },
};
use listen::BodyError;
use serde::Serialize;

use super::{connection::Connection, cors};
use crate::{
    answer::Origin,
    refusal::Refusal,
    reply::{Pieces, Reply, Status},
    socket,
};

const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// What can be opened in a browser loads nothing and is shown in nobody's frame.
const NO_PAGE: HeaderValue = HeaderValue::from_static("default-src 'none'; frame-ancestors 'none'");
const LIMIT: HeaderName = HeaderName::from_static("ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("ratelimit-reset");

/// Where a request is meant to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place<'a> {
    /// JSON-RPC, perhaps with a key in the path.
    Rpc(Option<&'a str>),
    Health,
    Ready,
    Nowhere,
}

fn place(path: &str) -> Place<'_> {
    match path {
        "/" => Place::Rpc(None),
        "/health" => Place::Health,
        "/ready" => Place::Ready,
        _ => match path.strip_prefix("/rpc/") {
            Some(key) if !key.is_empty() && !key.contains('/') => Place::Rpc(Some(key)),
            Some(_) | None => Place::Nowhere,
        },
    }
}

/// Answers one request; failures of the connection show when hyper goes on with it.
pub(super) async fn answer(
    connection: &Connection,
    request: Request<Incoming>,
) -> Result<Response<Pieces>, Infallible> {
    let cors = &connection.shared.gateway.config.cors;
    let origin = cors::allowed_origin(cors, request.headers());
    let mut response = route(connection, request).await;
    if connection.shared.gateway.is_draining() && response.status() != StatusCode::SWITCHING_PROTOCOLS {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    }
    connection.watch.awaits_caller();
    cors::allow(cors, origin, &mut response);
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    Ok(response)
}

async fn route(connection: &Connection, request: Request<Incoming>) -> Response<Pieces> {
    match (request.method(), place(request.uri().path())) {
        (&Method::POST, Place::Rpc(_)) => post(connection, request).await,
        (&Method::GET, Place::Rpc(_)) if socket::is_upgrade(request.headers()) => {
            upgrade(connection, request)
        }
        (&Method::OPTIONS, Place::Rpc(_)) => cors::preflight(),
        (&Method::GET, Place::Health) => health(connection),
        (&Method::GET, Place::Ready) => ready(connection),
        (_, Place::Rpc(_)) => not_allowed("POST, OPTIONS"),
        (_, Place::Health | Place::Ready) => not_allowed("GET"),
        (_, Place::Nowhere) => json(StatusCode::NOT_FOUND, Bytes::from_static(br#"{"message":"Not found"}"#)),
    }
}

async fn post(connection: &Connection, request: Request<Incoming>) -> Response<Pieces> {
    let gateway = &connection.shared.gateway;
    let Place::Rpc(key) = place(request.uri().path()) else { return refused(&Refusal::BrokenBody) };
    let address = gateway.client(connection.peer, request.headers());
    let caller = match gateway.admit(address, request.headers(), key) {
        Ok(caller) => caller,
        Err(refusal) => {
            gateway.metrics.refused(None, &refusal);
            return refused(&refusal);
        }
    };
    connection.watch.awaits_body();
    let message = match listen::read_body(request.into_body(), gateway.config.limits.max_body_bytes).await {
        Ok(message) => message,
        Err(error) => {
            let refusal = match error {
                BodyError::TooLong(most) => Refusal::LongBody { most },
                BodyError::Broken(_) => Refusal::BrokenBody,
            };
            gateway.metrics.refused(None, &refusal);
            let mut response = refused(&refusal);
            response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            return response;
        }
    };
    connection.watch.works();
    respond(gateway.answer(&caller, Origin::Http, &message).await)
}

fn upgrade(connection: &Connection, mut request: Request<Incoming>) -> Response<Pieces> {
    let gateway = &connection.shared.gateway;
    if !cors::page_may_connect(&gateway.config.cors, request.headers()) {
        return json(StatusCode::FORBIDDEN, Bytes::from_static(br#"{"message":"Origin not allowed"}"#));
    }
    let Place::Rpc(key) = place(request.uri().path()) else { return refused(&Refusal::BrokenBody) };
    let address = gateway.client(connection.peer, request.headers());
    let caller = gateway.admit_for_long(address, request.headers(), key);
    let seat = match caller.and_then(|caller| gateway.seats.take(caller)) {
        Ok(seat) => seat,
        Err(refusal) => {
            gateway.metrics.refused(None, &refusal);
            return refused(&refusal);
        }
    };
    match socket::accept(request.headers()) {
        Some(response) => {
            *connection.upgrade.lock() = Some((hyper::upgrade::on(&mut request), seat));
            response.map(|()| Pieces::one(Bytes::new()))
        }
        None => {
            json(StatusCode::BAD_REQUEST, Bytes::from_static(br#"{"message":"Bad WebSocket handshake"}"#))
        }
    }
}

/// How the gateway is, for people; programs ask `/ready`.
#[derive(Serialize)]
struct Health {
    status: &'static str,
    version: &'static str,
    head: Option<u64>,
    /// Whether the keys are those of the database.
    keys: &'static str,
    /// Whether limits are shared with other gateways, as they should be.
    limits: &'static str,
}

fn health(connection: &Connection) -> Response<Pieces> {
    let gateway = &connection.shared.gateway;
    let keys = match gateway.access.keyring.health() {
        KeyringHealth::Fresh => "fresh",
        KeyringHealth::Stale { .. } => "stale",
    };
    let limits = match gateway.access.limiter.sharing() {
        Sharing::Alone => "alone",
        Sharing::Shared { .. } => "shared",
        Sharing::Lost { .. } => "lost",
    };
    let is_well = gateway.is_ready() && keys == "fresh" && limits != "lost";
    let health = Health {
        status: if is_well { "ok" } else { "degraded" },
        version: env!("CARGO_PKG_VERSION"),
        head: gateway.head.get().map(|head| head.number),
        keys,
        limits,
    };
    json(StatusCode::OK, serde_json::to_vec(&health).unwrap_or_default().into())
}

fn ready(connection: &Connection) -> Response<Pieces> {
    let gateway = &connection.shared.gateway;
    let (status, reason) = match (gateway.is_draining(), gateway.is_ready()) {
        (true, _) => (StatusCode::SERVICE_UNAVAILABLE, "draining"),
        (false, false) => (StatusCode::SERVICE_UNAVAILABLE, "no_head"),
        (false, true) => return json(StatusCode::OK, Bytes::from_static(br#"{"status":"ready"}"#)),
    };
    json(status, format!(r#"{{"status":"not_ready","reason":"{reason}"}}"#).into())
}

fn not_allowed(methods: &'static str) -> Response<Pieces> {
    let text = Bytes::from_static(br#"{"message":"Method not allowed"}"#);
    let mut response = json(StatusCode::METHOD_NOT_ALLOWED, text);
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    response
}

fn json(status: StatusCode, text: Bytes) -> Response<Pieces> {
    let mut response = Response::new(Pieces::one(text));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response.headers_mut().insert(CONTENT_SECURITY_POLICY, NO_PAGE);
    response
}

fn refused(refusal: &Refusal) -> Response<Pieces> {
    respond(Reply::refused(None, refusal))
}

/// A reply as HTTP has it.
fn respond(reply: Reply) -> Response<Pieces> {
    let Reply { status, body, retry_after, allowance } = reply;
    let mut response = Response::new(body);
    *response.status_mut() = status.code();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, JSON);
    if let Some(allowance) = allowance {
        headers.insert(LIMIT, allowance.limit.into());
        headers.insert(REMAINING, allowance.remaining.into());
        headers.insert(RESET, allowance.reset_seconds().into());
    }
    if let Some(wait) = retry_after {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        headers.insert(RETRY_AFTER, seconds.max(1).into());
    }
    if status == Status::Unauthorized {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"json-rpc\""));
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_where_they_say() {
        assert_eq!(place("/"), Place::Rpc(None));
        assert_eq!(place("/rpc/cnk_a_b"), Place::Rpc(Some("cnk_a_b")));
        assert_eq!(place("/health"), Place::Health);
        for path in ["/rpc", "/rpc/", "/rpc/a/b", "/RPC/a", "//", "/health/", ""] {
            assert_eq!(place(path), Place::Nowhere, "{path}");
        }
    }
}
