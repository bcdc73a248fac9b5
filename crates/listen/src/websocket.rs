//! From an HTTP request to a WebSocket.

use http::{HeaderValue, StatusCode};
use http1::{Headers, Request};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::{Pieces, Response};

/// Whether the request asks for a WebSocket.
pub fn is_upgrade(request: &Request<'_, '_>) -> bool {
    request.line("upgrade").is_some_and(|value| value.eq_ignore_ascii_case(b"websocket"))
}

/// The response that switches protocols, or nothing if the handshake is not version 13 with a key.
pub fn accept(request: &Request<'_, '_>) -> Option<Response> {
    let key = request.line("sec-websocket-key")?;
    request.line("sec-websocket-version").filter(|version| *version == b"13")?;
    let accept = HeaderValue::from_str(&derive_accept_key(key)).ok()?;
    let response = Response::new(StatusCode::SWITCHING_PROTOCOLS, Pieces::default())
        .with("connection", "Upgrade")
        .with("upgrade", "websocket")
        .with("sec-websocket-accept", accept);
    Some(response)
}
