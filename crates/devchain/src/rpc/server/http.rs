//! One HTTP request: which path and method, which headers, and the JSON-RPC message inside.

use std::net::IpAddr;

use listen::{BodyError, Budget, Handler, Pieces, Request, Response, StatusCode, Step, Value};

use super::{NO_ROOM, connection::Connection, gate};
use crate::rpc::{
    config::Cors,
    jsonrpc::{Methods, answer_message},
};

const JSON: &str = "application/json";

/// A request that was let in.
pub(super) struct Admitted {
    /// The page that may read the answer.
    origin: Option<Value>,
    is_page: bool,
}

impl<M: Methods> Handler for Connection<M> {
    type Caller = Admitted;
    /// Whether a page opened it.
    type Socket = bool;
    type Party = IpAddr;

    fn receive(&self, request: &Request<'_, '_>) -> Step<Admitted, bool> {
        let shared = &self.shared;
        if !gate::host_allowed(&shared.hosts, request) {
            return Step::Answer(message(StatusCode::FORBIDDEN, r#"{"message":"Host not authorized."}"#));
        }
        let origin = gate::allowed_origin(&shared.cors, request);
        let response = match (request.method, request.path()) {
            ("POST", "/") => return Step::Read(Admitted { origin, is_page: gate::is_page(request) }),
            ("GET", "/") if listen::is_upgrade(request) => match self.upgrade(request) {
                Ok(response) => return Step::Switch(self.allow(response, origin), gate::is_page(request)),
                Err(response) => response,
            },
            ("GET", "/liveness") => message(StatusCode::OK, r#"{"status":"UP"}"#),
            ("GET", "/readiness") if shared.methods.is_ready() => {
                message(StatusCode::OK, r#"{"status":"UP"}"#)
            }
            ("GET", "/readiness") => message(StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"DOWN"}"#),
            ("OPTIONS", "/") => preflight(),
            (_, "/") => message(StatusCode::METHOD_NOT_ALLOWED, r#"{"message":"Use POST."}"#)
                .with("allow", "POST, OPTIONS"),
            _ => message(StatusCode::NOT_FOUND, r#"{"message":"Not found."}"#),
        };
        Step::Answer(self.allow(response, origin))
    }

    fn account(&self, _: &Admitted) -> (&Budget<IpAddr>, IpAddr) {
        (&self.shared.buffers, self.peer)
    }

    async fn answer(&self, Admitted { origin, is_page }: Admitted, body: &[u8]) -> Response {
        let reply = answer_message(&self.shared.methods, body, self.caller(is_page, None)).await;
        let status = if reply.malformed { StatusCode::BAD_REQUEST } else { StatusCode::OK };
        let (pieces, mut charge) = (reply.answer.into_pieces(), None);
        let response = match self.shared.buffers.cover(self.peer, &mut charge, pieces.len()) {
            Ok(()) => Response::new(status, pieces).with("content-type", JSON),
            Err(_) => no_room(),
        };
        self.allow(response.charged(charge.into_iter().collect()), origin)
    }

    fn refuse_body(&self, Admitted { origin, .. }: Admitted, error: BodyError) -> Response {
        let response = match error {
            BodyError::TooLong(_) => {
                message(StatusCode::PAYLOAD_TOO_LARGE, r#"{"message":"Request body too large."}"#)
            }
            BodyError::Broken => {
                message(StatusCode::BAD_REQUEST, r#"{"message":"Request body incomplete."}"#)
            }
            BodyError::NoRoom(_) => no_room(),
        };
        self.allow(response, origin)
    }
}

impl<M: Methods> Connection<M> {
    fn upgrade(&self, request: &Request<'_, '_>) -> Result<Response, Response> {
        if !gate::page_may_connect(&self.shared.cors, request) {
            return Err(message(StatusCode::FORBIDDEN, r#"{"message":"Origin not authorized."}"#));
        }
        let bad_handshake = || message(StatusCode::BAD_REQUEST, r#"{"message":"Bad WebSocket handshake."}"#);
        listen::accept(request).ok_or_else(bad_handshake)
    }

    /// Lets the page read the answer.
    fn allow(&self, mut response: Response, origin: Option<Value>) -> Response {
        if let Some(origin) = origin {
            response.header("access-control-allow-origin", origin);
            if matches!(self.shared.cors, Cors::Origins(_)) {
                response.header("vary", "Origin");
            }
        }
        response
    }
}

fn no_room() -> Response {
    message(StatusCode::TOO_MANY_REQUESTS, NO_ROOM).with("retry-after", 1)
}

fn preflight() -> Response {
    Response::new(StatusCode::NO_CONTENT, Pieces::default())
        .with("access-control-allow-methods", "POST, GET, OPTIONS")
        .with("access-control-allow-headers", "*, Authorization, Content-Type")
        .with("access-control-max-age", "86400")
}

fn message(status: StatusCode, json: &'static str) -> Response {
    Response::new(status, json).with("content-type", JSON)
}
