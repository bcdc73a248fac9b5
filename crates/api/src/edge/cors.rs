//! Which pages of other origins may read answers. The headers are on every answer, refusals included: without them a
//! browser shows a 429 as a failure of CORS.

use hyper::{
    HeaderMap,
    header::{self, HeaderValue},
};

/// Headers that scripts of other origins may read.
const EXPOSED: HeaderValue = HeaderValue::from_static(
    "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After, ETag, X-Request-Id, X-Key-Expires-At, \
     Idempotent-Replayed",
);
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, DELETE, OPTIONS");
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Idempotency-Key, If-None-Match, X-API-Key, X-Platform-Dev-Key, X-Request-Id",
);
/// Seconds that a browser may remember a preflight.
const MAX_AGE: HeaderValue = HeaderValue::from_static("86400");
const ANY: HeaderValue = HeaderValue::from_static("*");
const TRUE: HeaderValue = HeaderValue::from_static("true");

/// Origins whose pages may read answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CorsOrigins {
    /// Every origin.
    Any,
    /// These, as browsers write them: scheme, host and port, without a slash at the end.
    List(Vec<HeaderValue>),
}

impl CorsOrigins {
    /// Whether answers differ by origin.
    pub(super) fn varies(&self) -> bool {
        match self {
            Self::Any => false,
            Self::List(_) => true,
        }
    }

    /// Puts the headers of an answer to a request from `origin`.
    pub(super) fn mark(&self, origin: Option<&HeaderValue>, headers: &mut HeaderMap) {
        let allowed = match self {
            Self::Any => ANY,
            Self::List(list) => match origin.filter(|origin| list.contains(origin)) {
                Some(origin) => {
                    // Cookies: only for pages that the operator names, never for every page there is.
                    headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, TRUE);
                    origin.clone()
                }
                None => return,
            },
        };
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, EXPOSED);
    }

    /// Puts what a preflight asks for.
    pub(super) fn mark_preflight(&self, headers: &mut HeaderMap) {
        headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
        headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
        headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    }
}
