//! GraphQL over a WebSocket, for subscriptions: the `graphql-transport-ws` protocol, and the older `graphql-ws`.
//!
//! Every operation counts as a request. A connection has a bounded number of operations under way and of bytes per message. At
//! the end of the process it is told to connect again, elsewhere.

use std::{str::FromStr, sync::Arc, time::Duration};

use async_graphql::{
    Data, Executor, Request, Response as GraphqlResponse,
    http::{ALL_WEBSOCKET_PROTOCOLS, WebSocket as Protocol, WebSocketProtocols, WsMessage},
};
use axum::{
    extract::{
        WebSocketUpgrade,
        ws::{CloseFrame, Message, WebSocket},
    },
    http::request::Parts,
    response::{IntoResponse, Response},
};
use futures_util::{
    SinkExt, StreamExt,
    stream::{self, BoxStream},
};
use hyper::header::SEC_WEBSOCKET_PROTOCOL;
use tokio::sync::{Notify, Semaphore};

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
    let Some(place) = service.sockets.take_place(asker.client()) else {
        let detail = "Too many WebSockets are open; try again later.";
        return Problem::new(Code::RateLimited, detail).with_retry_after(60).into_response();
    };
    upgrade
        .protocols(ALL_WEBSOCKET_PROTOCOLS)
        .max_message_size(MOST_BYTES)
        .max_frame_size(MOST_BYTES)
        .on_upgrade(move |socket| async move {
            serve(socket, protocol, asker, service).await;
            drop(place);
        })
}

async fn serve(socket: WebSocket, protocol: WebSocketProtocols, asker: Asker, service: Service) {
    let (mut sink, source) = socket.split();
    let operations = Operations {
        service: service.clone(),
        asker,
        permits: Arc::new(Semaphore::new(MOST_OPERATIONS)),
        exceeded: Arc::new(Notify::new()),
    };
    let exceeded = operations.exceeded.clone();
    let mut outgoing =
        Protocol::new(operations, Box::pin(incoming(source)), protocol).keepalive_timeout(KEEP_ALIVE);
    loop {
        let message = tokio::select! {
            biased;
            () = exceeded.notified() => return say_goodbye(sink, TOO_MANY, Code::RateLimited.word()).await,
            () = service.sockets.told_to_go() => {
                return say_goodbye(sink, RESTART, "the API is restarting").await;
            }
            message = outgoing.next() => message,
        };
        let message = match message {
            None => return,
            Some(WsMessage::Text(text)) => Message::Text(text.into()),
            Some(WsMessage::Close(code, reason)) => close(code, reason),
        };
        match tokio::time::timeout(SEND_TIME_LIMIT, sink.send(message)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => return,
        }
    }
}

async fn say_goodbye(mut sink: stream::SplitSink<WebSocket, Message>, code: u16, reason: &str) {
    // The client may be gone, or not read: it is closed either way.
    let _ = tokio::time::timeout(FAREWELL, sink.send(close(code, reason.to_owned()))).await;
}

fn close(code: u16, reason: String) -> Message {
    Message::Close(Some(CloseFrame { code, reason: reason.into() }))
}

/// The client's messages.
fn incoming(source: stream::SplitStream<WebSocket>) -> impl stream::Stream<Item = Vec<u8>> {
    stream::unfold(source, |mut source| async move {
        loop {
            match source.next().await?.ok()? {
                Message::Text(text) => return Some((text.as_bytes().to_vec(), source)),
                Message::Binary(bytes) => return Some((bytes.to_vec(), source)),
                Message::Ping(_) | Message::Pong(_) => {}
                Message::Close(_) => return None,
            }
        }
    })
}

/// Executes the operations of one connection, within its limits.
#[derive(Clone)]
struct Operations {
    service: Service,
    asker: Asker,
    /// One for each operation under way.
    permits: Arc<Semaphore>,
    /// The client asked for more than it may, which ends the connection.
    exceeded: Arc<Notify>,
}

impl Executor for Operations {
    async fn execute(&self, request: Request) -> GraphqlResponse {
        match self.service.admission.admit(request) {
            Ok(request) => self.service.schema.execute(request).await,
            Err(error) => GraphqlResponse::from_errors(vec![error]),
        }
    }

    fn execute_stream(
        &self,
        request: Request,
        session_data: Option<Arc<Data>>,
    ) -> BoxStream<'static, GraphqlResponse> {
        let Self { service, asker, permits, exceeded } = self.clone();
        let Ok(permit) = permits.try_acquire_owned() else {
            exceeded.notify_one();
            return stream::pending().boxed();
        };
        let answers = async move {
            if !service.limiter.take(asker, service.clock.now()).await.is_granted {
                exceeded.notify_one();
                return stream::pending().boxed();
            }
            match service.admission.admit(request) {
                Ok(request) => Executor::execute_stream(&service.schema, request, session_data),
                Err(error) => stream::iter([GraphqlResponse::from_errors(vec![error])]).boxed(),
            }
        };
        stream::once(answers)
            .flatten()
            .map(move |answer| {
                let _held_until_the_last = &permit;
                answer
            })
            .boxed()
    }
}
