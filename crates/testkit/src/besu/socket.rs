//! Besu's WebSocket port: requests, and subscriptions with hex ids whose heads are whole blocks.

use std::{
    collections::{HashMap, VecDeque},
    sync::Arc,
};

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async, client_async,
    tungstenite::{
        Message,
        handshake::server::{ErrorResponse, Request as Handshake, Response as Agreement},
        http::StatusCode,
    },
};

use super::{
    admit::{Fault, Way},
    exchange::{Exchange, Request, refusal},
    http::is_addressed,
    seats::receive,
    shape,
};
use crate::RpcClient;

/// Our own node's WebSocket, from which events come.
type Feed = WebSocketStream<TcpStream>;

/// Serves the port for ever.
pub(super) async fn serve(listener: TcpListener, exchange: Arc<Exchange>) {
    receive(listener, exchange, |stream, exchange| async move { converse(stream, &exchange).await }).await;
}

#[expect(clippy::result_large_err, reason = "the handshake's own type")]
fn shake(exchange: &Exchange, asked: &Handshake, agreed: Agreement) -> Result<Agreement, ErrorResponse> {
    let status = if is_addressed(exchange, asked.headers()) { None } else { Some(StatusCode::FORBIDDEN) };
    match status {
        None => Ok(agreed),
        Some(status) => {
            let mut refused = ErrorResponse::new(None);
            *refused.status_mut() = status;
            Err(refused)
        }
    }
}

/// A conversation to its end, whichever side ends it. What breaks is the caller's to notice.
#[expect(clippy::result_large_err, reason = "the handshake's own type")]
async fn converse(stream: TcpStream, exchange: &Exchange) {
    let shaken = accept_hdr_async(stream, |asked: &Handshake, agreed| shake(exchange, asked, agreed)).await;
    let (Ok(mut caller), Some(mut feed)) = (shaken, open_feed(exchange).await) else { return };
    let node = RpcClient::new(exchange.node);
    let mut session = Session { exchange, node, subscribed: HashMap::new(), early: VecDeque::new() };
    loop {
        let early = session.early.pop_front();
        let answer = match early {
            Some(event) => session.event(&event).await,
            None => tokio::select! {
                message = caller.next() => match message {
                    Some(Ok(Message::Text(text))) => session.answer(&mut feed, &text).await,
                    Some(Ok(Message::Close(_)) | Err(_)) | None => return,
                    Some(Ok(_)) => None,
                },
                event = feed.next() => match event {
                    Some(Ok(Message::Text(text))) => session.event(&text).await,
                    Some(Err(_)) | None => return,
                    Some(Ok(_)) => None,
                },
            },
        };
        if let Some(answer) = answer
            && caller.send(Message::text(answer.to_string())).await.is_err()
        {
            return;
        }
    }
}

async fn open_feed(exchange: &Exchange) -> Option<Feed> {
    let stream = TcpStream::connect(exchange.node).await.ok()?;
    let (feed, _) = client_async(format!("ws://{}", exchange.node), stream).await.ok()?;
    Some(feed)
}

/// What a subscription sends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sends {
    /// Blocks, with whole transactions or with their hashes.
    Heads { whole: bool },
    /// Anything else, as the node has it.
    Other,
}

struct Session<'a> {
    exchange: &'a Exchange,
    node: RpcClient,
    subscribed: HashMap<String, Sends>,
    /// Events that came while an answer of the node was waited for.
    early: VecDeque<String>,
}

impl Session<'_> {
    async fn answer(&mut self, feed: &mut Feed, text: &str) -> Option<Value> {
        let Ok(message) = serde_json::from_str::<Value>(text) else {
            return Some(refusal(&Value::Null, &Fault::PARSE));
        };
        if let Value::Array(requests) = message {
            let mut answers = Vec::with_capacity(requests.len());
            for request in requests {
                answers.extend(self.answer_one(feed, request).await);
            }
            return Some(Value::Array(answers));
        }
        self.answer_one(feed, message).await
    }

    async fn answer_one(&mut self, feed: &mut Feed, message: Value) -> Option<Value> {
        let request = match Request::read(message) {
            Ok(request) => request?,
            Err(fault) => return Some(refusal(&Value::Null, &fault)),
        };
        if !matches!(request.method.as_str(), "eth_subscribe" | "eth_unsubscribe") {
            return Some(self.exchange.call(&self.node, Way::Socket, request).await);
        }
        self.exchange.tally.note(&request.method);
        Some(self.subscribe(feed, &request).await.unwrap_or_else(|| refusal(&request.id, &Fault::INTERNAL)))
    }

    /// Passes a subscription on.
    async fn subscribe(&mut self, feed: &mut Feed, request: &Request) -> Option<Value> {
        let Request { id, method, params } = request;
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        feed.send(Message::text(question.to_string())).await.ok()?;
        let mut answer = loop {
            let Message::Text(text) = feed.next().await?.ok()? else { continue };
            let answer: Value = serde_json::from_str(&text).ok()?;
            if answer.get("id").is_some() {
                break answer;
            }
            self.early.push_back(text.to_string());
        };
        if let (Some(subscription), Some("newHeads")) =
            (answer.get("result").and_then(Value::as_str), params.first().and_then(Value::as_str))
        {
            let whole = params.get(1).is_some_and(|option| option["includeTransactions"] == true);
            self.subscribed.insert(subscription.to_owned(), Sends::Heads { whole });
        }
        *answer.get_mut("id")? = id.clone();
        Some(answer)
    }

    /// An event as Besu sends it.
    async fn event(&self, text: &str) -> Option<Value> {
        let mut event: Value = serde_json::from_str(text).ok()?;
        let subscription = event.pointer("/params/subscription")?.as_str()?;
        let sends = self.subscribed.get(subscription).copied().unwrap_or(Sends::Other);
        if let Sends::Heads { whole } = sends {
            let hash = event.pointer("/params/result/hash")?.clone();
            let mut block: Value = self.node.call("eth_getBlockByHash", json!([hash, whole])).await.ok()?;
            shape::block(&self.exchange.settings, &mut block);
            *event.pointer_mut("/params/result")? = block;
        }
        Some(event)
    }
}
