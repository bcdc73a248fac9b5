//! From an HTTP request to a WebSocket.

use hyper::{
    HeaderMap, Response, StatusCode,
    header::{
        CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
    },
};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// Whether the request asks for a WebSocket.
pub(crate) fn is_upgrade(headers: &HeaderMap) -> bool {
    headers.get(UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// The response that switches protocols, or nothing if the handshake is not version 13 with a key.
pub(crate) fn accept(headers: &HeaderMap) -> Option<Response<()>> {
    let key = headers.get(SEC_WEBSOCKET_KEY)?;
    headers.get(SEC_WEBSOCKET_VERSION).filter(|version| version.as_bytes() == b"13")?;
    let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes())).ok()?;
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(SEC_WEBSOCKET_ACCEPT, accept);
    Some(response)
}
