//! Receives webhooks: checks the signature over the raw body, takes every event once, answers 204.
//!
//! ```text
//! WEBHOOK_SECRET=whsec_... PORT=4100 cargo run --package chainnet-api --example webhook_receiver
//! ```

use std::{collections::HashSet, io, sync::Arc};

use axum::{
    Router,
    body::Bytes,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, StatusCode},
    routing::post,
};
use hmac::{Hmac, Mac};
use parking_lot::Mutex;
use serde::Deserialize;
use sha2::Sha256;
use tokio::net::TcpListener;

const MOST_BYTES: usize = 1024 * 1024;

/// What the receiver works with.
struct Receiver {
    /// The whole text, `whsec_` included: it is the key of `X-Platform-Signature`.
    secret: String,
    /// Ids of events that were taken. A real shop keeps them in its database, in the transaction that acts on the event.
    seen: Mutex<HashSet<String>>,
    /// Is told every line.
    tell: Box<dyn Fn(&str) + Send + Sync>,
}

/// What every event has.
#[derive(Deserialize)]
struct Event {
    id: String,
    r#type: String,
}

impl Receiver {
    /// Whether one of the signatures is ours. During a rotation the next secret signs, too.
    fn is_genuine(&self, headers: &HeaderMap, body: &[u8]) -> bool {
        ["x-platform-signature", "x-platform-signature-next"].iter().any(|name| {
            let text = headers.get(*name).and_then(|value| value.to_str().ok());
            let signature =
                text.and_then(|text| text.strip_prefix("sha256=")).map(alloy_primitives::hex::decode);
            let Some(Ok(signature)) = signature else { return false };
            let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(self.secret.as_bytes()) else { return false };
            mac.update(body);
            // Takes equally long wherever the two differ.
            mac.verify_slice(&signature).is_ok()
        })
    }
}

/// `body` is the bytes as they came: JSON that is parsed and written again is other bytes.
async fn receive(State(receiver): State<Arc<Receiver>>, headers: HeaderMap, body: Bytes) -> StatusCode {
    if !receiver.is_genuine(&headers, &body) {
        (receiver.tell)("bad signature");
        return StatusCode::UNAUTHORIZED;
    }
    // Read only what is proven to be genuine; the id is in the body, so it is signed.
    let Ok(event) = serde_json::from_slice::<Event>(&body) else { return StatusCode::BAD_REQUEST };
    let word = if receiver.seen.lock().insert(event.id.clone()) { "ok" } else { "again" };
    (receiver.tell)(&format!("{word} {} {}", event.r#type, event.id));
    StatusCode::NO_CONTENT
}

/// Receives on every path, until the end.
pub(crate) async fn serve(
    listener: TcpListener,
    secret: String,
    tell: impl Fn(&str) + Send + Sync + 'static,
) -> io::Result<()> {
    let receiver = Arc::new(Receiver { secret, seen: Mutex::default(), tell: Box::new(tell) });
    let router = Router::new()
        .route("/", post(receive))
        .route("/{*path}", post(receive))
        .layer(DefaultBodyLimit::max(MOST_BYTES))
        .with_state(receiver);
    axum::serve(listener, router).await
}

#[tokio::main]
#[allow(dead_code, reason = "tests call `serve`")]
#[expect(clippy::disallowed_methods, reason = "an example has no configuration but this")]
async fn main() -> io::Result<()> {
    let secret = std::env::var("WEBHOOK_SECRET").map_err(io::Error::other)?;
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(4100);
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on {}", listener.local_addr()?.port());
    serve(listener, secret, |line| println!("{line}")).await
}
