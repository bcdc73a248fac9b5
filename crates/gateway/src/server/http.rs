//! One HTTP request: which path and method, who asks, and the JSON-RPC message inside.
//!
//! Keys may stand in the path, so no path is ever logged.

use access::{KeyringHealth, Sharing, Subject};
use listen::{BodyError, Budget, Handler, Pieces, Request, Response, StatusCode, Step, Value};
use serde::Serialize;

use super::{connection::Connection, cors};
use crate::{
    answer::Origin,
    caller::Caller,
    refusal::Refusal,
    reply::{Reply, Status},
    socket::TakenSeat,
};

const JSON: &str = "application/json";
/// What can be opened in a browser loads nothing and is shown in nobody's frame.
const NO_PAGE: &str = "default-src 'none'; frame-ancestors 'none'";

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

/// A request that was let in, and the page that may read the answer.
pub(super) struct Admitted {
    caller: Caller,
    origin: Option<Value>,
}

impl Handler for Connection {
    type Caller = Admitted;
    type Socket = TakenSeat;
    type Party = Subject;

    fn receive(&self, request: &Request<'_, '_>) -> Step<Admitted, TakenSeat> {
        let origin = cors::allowed_origin(&self.shared.gateway.config.cors, request);
        let answer = |response, origin| Step::Answer(self.finish(response, origin));
        match (request.method, place(request.path())) {
            ("POST", Place::Rpc(key)) => match self.admit(request, key) {
                Ok(caller) => Step::Read(Admitted { caller, origin }),
                Err(refusal) => answer(self.refused(&refusal), origin),
            },
            ("GET", Place::Rpc(key)) if listen::is_upgrade(request) => match self.upgrade(request, key) {
                Ok((response, seat)) => Step::Switch(self.finish(response, origin), seat),
                Err(response) => answer(response, origin),
            },
            ("OPTIONS", Place::Rpc(_)) => answer(cors::preflight(), origin),
            ("GET", Place::Health) => answer(health(self), origin),
            ("GET", Place::Ready) => answer(ready(self), origin),
            (_, Place::Rpc(_)) => answer(not_allowed("POST, OPTIONS"), origin),
            (_, Place::Health | Place::Ready) => answer(not_allowed("GET"), origin),
            (_, Place::Nowhere) => answer(json(StatusCode::NOT_FOUND, r#"{"message":"Not found"}"#), origin),
        }
    }

    fn account(&self, Admitted { caller, .. }: &Admitted) -> (&Budget<Subject>, Subject) {
        (&self.shared.gateway.buffers, caller.subject())
    }

    async fn answer(&self, Admitted { caller, origin }: Admitted, body: &[u8]) -> Response {
        let reply = self.shared.gateway.answer(&caller, Origin::Http, body).await;
        self.finish(respond(reply), origin)
    }

    fn refuse_body(&self, Admitted { origin, .. }: Admitted, error: BodyError) -> Response {
        let refusal = match error {
            BodyError::TooLong(most) => Refusal::LongBody { most },
            BodyError::Broken => Refusal::BrokenBody,
            BodyError::NoRoom(exhausted) => exhausted.into(),
        };
        self.finish(self.refused(&refusal), origin)
    }
}

impl Connection {
    fn admit(&self, request: &Request<'_, '_>, key: Option<&str>) -> Result<Caller, Refusal> {
        let gateway = &self.shared.gateway;
        gateway.admit(gateway.client(self.peer, request), request, key, &self.last_key)
    }

    fn upgrade(
        &self,
        request: &Request<'_, '_>,
        key: Option<&str>,
    ) -> Result<(Response, TakenSeat), Response> {
        let gateway = &self.shared.gateway;
        if !cors::page_may_connect(&gateway.config.cors, request) {
            return Err(json(StatusCode::FORBIDDEN, r#"{"message":"Origin not allowed"}"#));
        }
        let address = gateway.client(self.peer, request);
        let caller = gateway.admit_for_long(address, request, key, &self.last_key);
        let seat =
            caller.and_then(|caller| gateway.seats.take(caller)).map_err(|refusal| self.refused(&refusal))?;
        let bad_handshake = || json(StatusCode::BAD_REQUEST, r#"{"message":"Bad WebSocket handshake"}"#);
        Ok((listen::accept(request).ok_or_else(bad_handshake)?, seat))
    }

    fn refused(&self, refusal: &Refusal) -> Response {
        self.shared.gateway.metrics.refused(None, refusal);
        respond(Reply::refused(None, refusal))
    }

    /// What every answer says.
    fn finish(&self, mut response: Response, origin: Option<Value>) -> Response {
        let gateway = &self.shared.gateway;
        cors::allow(&gateway.config.cors, origin, &mut response);
        response.header("x-content-type-options", "nosniff");
        response.is_last |= gateway.is_draining() && response.status != StatusCode::SWITCHING_PROTOCOLS;
        response
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

fn health(connection: &Connection) -> Response {
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
    json(StatusCode::OK, serde_json::to_vec(&health).unwrap_or_default())
}

fn ready(connection: &Connection) -> Response {
    let gateway = &connection.shared.gateway;
    let (status, reason) = match (gateway.is_draining(), gateway.is_ready()) {
        (true, _) => (StatusCode::SERVICE_UNAVAILABLE, "draining"),
        (false, false) => (StatusCode::SERVICE_UNAVAILABLE, "no_head"),
        (false, true) => return json(StatusCode::OK, r#"{"status":"ready"}"#),
    };
    json(status, format!(r#"{{"status":"not_ready","reason":"{reason}"}}"#).into_bytes())
}

fn not_allowed(methods: &'static str) -> Response {
    json(StatusCode::METHOD_NOT_ALLOWED, r#"{"message":"Method not allowed"}"#).with("allow", methods)
}

fn json(status: StatusCode, text: impl Into<Pieces>) -> Response {
    Response::new(status, text)
        .with("content-type", JSON)
        .with("cache-control", "no-store")
        .with("content-security-policy", NO_PAGE)
}

/// A reply as HTTP has it.
fn respond(reply: Reply) -> Response {
    let Reply { status, body, retry_after, allowance, charges } = reply;
    let mut response = Response::new(status.code(), body).with("content-type", JSON).charged(charges);
    if let Some(allowance) = allowance {
        response.header("ratelimit-limit", u64::from(allowance.limit));
        response.header("ratelimit-remaining", u64::from(allowance.remaining));
        response.header("ratelimit-reset", allowance.reset_seconds());
    }
    if let Some(wait) = retry_after {
        let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
        response.header("retry-after", seconds.max(1));
    }
    if status == Status::Unauthorized {
        response.header("www-authenticate", "Bearer realm=\"json-rpc\"");
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
