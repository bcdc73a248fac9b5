//! Which pages may call from a browser.

use listen::{HeaderValue, Headers, Pieces, Request, Response, StatusCode, Value};

use crate::config::Cors;

/// Headers that a page may send.
const SENT: &str = "Authorization, Content-Type, X-API-Key";
/// Headers of answers that a page may read.
const READ: &str = "RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset, Retry-After";

/// The value of `Access-Control-Allow-Origin` for this request, if its page may read the answer.
pub(super) fn allowed_origin(cors: &Cors, request: &Request<'_, '_>) -> Option<Value> {
    let origin = request.line("origin")?;
    match cors {
        Cors::Any => Some("*".into()),
        Cors::Origins(origins) => {
            let allowed = origins.iter().find(|allowed| allowed.as_bytes() == origin)?;
            HeaderValue::from_str(allowed).ok().map(Value::from)
        }
    }
}

/// Whether a page may open a WebSocket, which browsers allow across origins without asking. Programs that are no browser
/// send no `Origin`.
pub(super) fn page_may_connect(cors: &Cors, request: &Request<'_, '_>) -> bool {
    request.line("origin").is_none() || allowed_origin(cors, request).is_some()
}

/// Lets the page read the answer.
pub(super) fn allow(cors: &Cors, origin: Option<Value>, response: &mut Response) {
    if let Some(origin) = origin {
        response.header("access-control-allow-origin", origin);
        response.header("access-control-expose-headers", READ);
    }
    if matches!(cors, Cors::Origins(_)) {
        response.header("vary", "Origin");
    }
}

/// The answer to a browser that asks before it calls.
pub(super) fn preflight() -> Response {
    Response::new(StatusCode::NO_CONTENT, Pieces::default())
        .with("access-control-allow-methods", "POST, GET, OPTIONS")
        .with("access-control-allow-headers", SENT)
        .with("access-control-max-age", "86400")
}
