//! A WebSocket: requests in, answers and subscribed events out, in one task.

use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use hyper::{
    HeaderMap, Response, StatusCode,
    header::{
        CONNECTION, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_VERSION, UPGRADE,
    },
};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Message, Utf8Bytes,
        handshake::derive_accept_key,
        protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
    },
};
use tokio_util::sync::CancellationToken;

use super::Shared;
use crate::rpc::{
    config::Limits,
    jsonrpc::{Caller, Methods, answer_message},
    subscriptions::{Behind, Session},
};

/// How often a silent peer is asked whether it is still there.
const PING_PERIOD: Duration = Duration::from_secs(30);
/// How long saying goodbye may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// Whether the request asks for a WebSocket.
pub(super) fn is_upgrade(headers: &HeaderMap) -> bool {
    headers.get(UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// The response that switches protocols, or nothing if the handshake is not version 13 with a key.
pub(super) fn accept(headers: &HeaderMap) -> Option<Response<()>> {
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

/// Why we end a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Ending {
    #[error("the peer is gone")]
    Gone,
    #[error("message too large")]
    TooLarge,
    #[error("too slow: events were not read in time")]
    TooSlow,
    #[error("protocol error")]
    Protocol,
    #[error("node is stopping")]
    Stopping,
}

impl Ending {
    fn code(self) -> Option<CloseCode> {
        match self {
            Ending::Gone => None,
            Ending::TooLarge => Some(CloseCode::Size),
            Ending::TooSlow => Some(CloseCode::Policy),
            Ending::Protocol => Some(CloseCode::Protocol),
            Ending::Stopping => Some(CloseCode::Away),
        }
    }
}

impl From<tungstenite::Error> for Ending {
    fn from(error: tungstenite::Error) -> Self {
        match error {
            tungstenite::Error::Capacity(_) => Ending::TooLarge,
            tungstenite::Error::Protocol(_) | tungstenite::Error::Utf8(_) => Ending::Protocol,
            _ => Ending::Gone,
        }
    }
}

impl From<Behind> for Ending {
    fn from(Behind: Behind) -> Self {
        Ending::TooSlow
    }
}

/// Serves an upgraded connection to its end.
pub(super) async fn serve<M, S>(shared: &Shared<M>, io: S, stop: &CancellationToken)
where
    M: Methods,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let config = settings(&shared.limits);
    let mut socket = WebSocketStream::from_raw_socket(io, Role::Server, Some(config)).await;
    let ending = converse(shared, &mut socket, stop).await;
    tracing::debug!(reason = %ending, "closing a WebSocket");
    if let Some(code) = ending.code() {
        let frame = CloseFrame { code, reason: Utf8Bytes::from(ending.to_string()) };
        let farewell = async {
            socket.close(Some(frame)).await?;
            while socket.next().await.transpose()?.is_some() {}
            Ok::<_, tungstenite::Error>(())
        };
        let _ = tokio::time::timeout(FAREWELL, farewell).await;
    }
}

fn settings(limits: &Limits) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(16 * 1024)
        .write_buffer_size(0)
        .max_message_size(Some(limits.max_body_bytes))
        .max_frame_size(Some(limits.max_body_bytes))
}

async fn converse<M, S>(
    shared: &Shared<M>,
    socket: &mut WebSocketStream<S>,
    stop: &CancellationToken,
) -> Ending
where
    M: Methods,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let mut session = shared.methods.session();
    loop {
        let step = tokio::select! {
            message = socket.next() => receive(shared, socket, &mut session, message).await,
            events = session.next_events() => match events {
                Ok(events) => send_all(socket, events, &shared.limits).await,
                Err(behind) => Err(behind.into()),
            },
            () = tokio::time::sleep(PING_PERIOD) => {
                send(socket, Message::Ping(Bytes::new()), &shared.limits).await
            }
            () = stop.cancelled() => Err(Ending::Stopping),
        };
        if let Err(ending) = step {
            return ending;
        }
    }
}

async fn receive<M, S>(
    shared: &Shared<M>,
    socket: &mut WebSocketStream<S>,
    session: &mut Session,
    message: Option<Result<Message, tungstenite::Error>>,
) -> Result<(), Ending>
where
    M: Methods,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let bytes = match message.ok_or(Ending::Gone)?? {
        Message::Text(text) => Bytes::from(text),
        Message::Binary(bytes) => bytes,
        Message::Close(_) => return Err(Ending::Gone),
        // Pings are answered by the library.
        Message::Ping(_) | Message::Pong(_) | Message::Frame(_) => return Ok(()),
    };
    let reply = answer_message(&shared.methods, &bytes, Caller::WebSocket(session)).await;
    if reply.answer.is_empty() {
        return Ok(());
    }
    send_text(socket, reply.answer.into_bytes(), &shared.limits).await
}

async fn send_all<S>(
    socket: &mut WebSocketStream<S>,
    events: Vec<Bytes>,
    limits: &Limits,
) -> Result<(), Ending>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    for event in events {
        send_text(socket, event, limits).await?;
    }
    Ok(())
}

async fn send_text<S>(socket: &mut WebSocketStream<S>, json: Bytes, limits: &Limits) -> Result<(), Ending>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    // Everything we write is JSON and so UTF-8; the check costs less than a wrong frame would.
    let text = Utf8Bytes::try_from(json).map_err(|_| Ending::Protocol)?;
    send(socket, Message::Text(text), limits).await
}

async fn send<S>(socket: &mut WebSocketStream<S>, message: Message, limits: &Limits) -> Result<(), Ending>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    match tokio::time::timeout(limits.transfer_timeout, socket.send(message)).await {
        Ok(sent) => Ok(sent?),
        Err(_) => Err(Ending::TooSlow),
    }
}
