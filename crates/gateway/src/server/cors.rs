//! Which pages may call from a browser.

use hyper::{
    HeaderMap, Response, StatusCode,
    header::{
        ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
        ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderValue, ORIGIN, VARY,
    },
};

use crate::{config::Cors, reply::Pieces};

/// Headers that a page may send.
const SENT: HeaderValue = HeaderValue::from_static("Authorization, Content-Type, X-API-Key");
/// Headers of answers that a page may read.
const READ: HeaderValue =
    HeaderValue::from_static("RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After");

/// The value of `Access-Control-Allow-Origin` for this request, if its page may read the answer.
pub(super) fn allowed_origin(cors: &Cors, headers: &HeaderMap) -> Option<HeaderValue> {
    let origin = headers.get(ORIGIN)?;
    match cors {
        Cors::Any => Some(HeaderValue::from_static("*")),
        Cors::Origins(origins) => {
            origins.iter().any(|allowed| allowed.as_bytes() == origin.as_bytes()).then(|| origin.clone())
        }
    }
}

/// Whether a page may open a WebSocket, which browsers allow across origins without asking. Programs that are no browser
/// send no `Origin`.
pub(super) fn page_may_connect(cors: &Cors, headers: &HeaderMap) -> bool {
    !headers.contains_key(ORIGIN) || allowed_origin(cors, headers).is_some()
}

/// Lets the page read the answer.
pub(super) fn allow(cors: &Cors, origin: Option<HeaderValue>, response: &mut Response<Pieces>) {
    let headers = response.headers_mut();
    if let Some(origin) = origin {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, READ);
    }
    if matches!(cors, Cors::Origins(_)) {
        headers.insert(VARY, HeaderValue::from_static("Origin"));
    }
}

/// The answer to a browser that asks before it calls.
pub(super) fn preflight() -> Response<Pieces> {
    let mut response = Response::new(Pieces::one(bytes::Bytes::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, GET, OPTIONS"));
    headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, SENT);
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400"));
    response
}
