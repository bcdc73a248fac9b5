//! GraphQL over a WebSocket, for subscriptions: the `graphql-transport-ws` protocol, and the older `graphql-ws`.
//!
//! Every operation counts as a request. A connection has a bounded number of operations under way and of bytes per message. At
//! the end of the process it is told to connect again, elsewhere.

use std::{collections::HashSet, str::FromStr, sync::Arc, time::Duration};

use async_graphql::http::{ALL_WEBSOCKET_PROTOCOLS, WebSocket as Protocol, WebSocketProtocols, WsMessage};
use axum::{
    extract::{
        WebSocketUpgrade,
        ws::{CloseFrame, Message, WebSocket},
    },
    http::request::Parts,
    response::{IntoResponse, Response},
};
use futures_util::{SinkExt, StreamExt, stream};
use hyper::header::SEC_WEBSOCKET_PROTOCOL;
use parking_lot::Mutex;
use serde::Deserialize;

use super::Service;
use crate::{code::Code, edge::Asker, problem::Problem};

const MOST_BYTES: usize = 32 * 1024;
const MOST_OPERATIONS: usize = 16;
/// A client that sends nothing for so long, not even an answer to a ping, is gone.
const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// A client that does not take a message for so long is too slow.
const SEND_TIME_LIMIT: Duration = Duration::from_secs(10);
/// Close code of the protocol for too many requests.
const TOO_MANY: u16 = 4429;
/// Close code for a server that restarts.
const RESTART: u16 = 1012;
/// How long saying so may take.
const FAREWELL: Duration = Duration::from_secs(2);

/// Takes the upgrade, if the client speaks one of the protocols.
pub(super) fn open(upgrade: WebSocketUpgrade, parts: &Parts, service: Service) -> Response {
    let offered = parts.headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|line| line.to_str().ok());
    let protocol = offered
        .flat_map(|line| line.split(','))
        .find_map(|name| WebSocketProtocols::from_str(name.trim()).ok());
    let (Some(protocol), Some(asker)) = (protocol, parts.extensions.get::<Asker>().copied()) else {
        let detail = "Offer graphql-transport-ws as the WebSocket's protocol.";
        return Problem::new(Code::InvalidQuery, detail).into_response();
    };
    let Some(place) = service.sockets.take_place() else {
        let detail = "Too many WebSockets are open; try again later.";
        return Problem::new(Code::RateLimited, detail).with_retry_after(60).into_response();
    };
    upgrade
        .protocols(ALL_WEBSOCKET_PROTOCOLS)
        .max_message_size(MOST_BYTES)
        .max_frame_size(MOST_BYTES)
        .on_upgrade(move |socket| async move {
            converse(socket, protocol, asker, service).await;
            drop(place);
        })
}

/// Operations under way, and why the connection is to end.
#[derive(Default)]
struct Conversation {
    operations: HashSet<String>,
    is_over: bool,
}

/// What is looked at in messages of either side.
#[derive(Deserialize)]
struct Glance<'a> {
    r#type: &'a str,
    id: Option<String>,
}

async fn converse(socket: WebSocket, protocol: WebSocketProtocols, asker: Asker, service: Service) {
    let (mut sink, source) = socket.split();
    let conversation = Arc::new(Mutex::new(Conversation::default()));
    let incoming = incoming(source, conversation.clone(), asker, service.clone());
    let mut outgoing =
        Protocol::new(service.schema.clone(), Box::pin(incoming), protocol).keepalive_timeout(KEEP_ALIVE);
    loop {
        let message = tokio::select! {
            message = outgoing.next() => message,
            () = service.sockets.told_to_go() => {
                let goodbye = close(RESTART, "the API is restarting".to_owned());
                let _ = tokio::time::timeout(FAREWELL, sink.send(goodbye)).await;
                return;
            }
        };
        let Some(message) = message else { break };
        let message = match message {
            WsMessage::Text(text) => {
                note_end(&text, &conversation);
                Message::Text(text.into())
            }
            WsMessage::Close(code, reason) => close(code, reason),
        };
        match tokio::time::timeout(SEND_TIME_LIMIT, sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
    }
    if conversation.lock().is_over {
        let _ = sink.send(close(TOO_MANY, Code::RateLimited.word().to_owned())).await;
    }
}

fn close(code: u16, reason: String) -> Message {
    Message::Close(Some(CloseFrame { code, reason: reason.into() }))
}

/// The client's messages, until it asks for too much.
fn incoming(
    source: stream::SplitStream<WebSocket>,
    conversation: Arc<Mutex<Conversation>>,
    asker: Asker,
    service: Service,
) -> impl stream::Stream<Item = Vec<u8>> {
    stream::unfold((source, conversation, service), move |(mut source, conversation, service)| async move {
        loop {
            let bytes = match source.next().await?.ok()? {
                Message::Text(text) => text.as_bytes().to_vec(),
                Message::Binary(bytes) => bytes.to_vec(),
                Message::Ping(_) | Message::Pong(_) => continue,
                Message::Close(_) => return None,
            };
            if !admit(&bytes, &conversation, asker, &service).await {
                conversation.lock().is_over = true;
                return None;
            }
            return Some((bytes, (source, conversation, service)));
        }
    })
}

/// Counts a message that starts an operation.
async fn admit(message: &[u8], conversation: &Mutex<Conversation>, asker: Asker, service: &Service) -> bool {
    let Ok(Glance { r#type, id }) = serde_json::from_slice(message) else { return true };
    match r#type {
        "subscribe" | "start" => {}
        "complete" | "stop" => {
            id.map(|id| conversation.lock().operations.remove(&id));
            return true;
        }
        _ => return true,
    }
    {
        let mut conversation = conversation.lock();
        conversation.operations.insert(id.unwrap_or_default());
        if conversation.operations.len() > MOST_OPERATIONS {
            return false;
        }
    }
    service.limiter.take(asker.client(), service.clock.now()).await.is_granted
}

/// Notes that the server ended an operation.
fn note_end(message: &str, conversation: &Mutex<Conversation>) {
    if let Ok(Glance { r#type: "complete" | "error", id: Some(id) }) = serde_json::from_str(message) {
        conversation.lock().operations.remove(&id);
    }
}
