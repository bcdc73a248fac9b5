//! A WebSocket: requests in, answers and subscribed events out, in one task.

use std::{net::IpAddr, time::Duration};

use bytes::Bytes;
use futures_util::{SinkExt, StreamExt};
use listen::{Exhausted, Metered};
use tokio::net::TcpStream;
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        self, Message, Utf8Bytes,
        protocol::{CloseFrame, Role, WebSocketConfig, frame::coding::CloseCode},
    },
};
use tokio_util::sync::CancellationToken;

use super::{NO_ROOM, Shared, connection::Connection};
use crate::rpc::{
    config::Limits,
    jsonrpc::{Caller, Methods, answer_message},
    subscriptions::Behind,
};

type Socket = WebSocketStream<Metered<TcpStream, IpAddr>>;

/// How often a silent peer is asked whether it is still there.
const PING_PERIOD: Duration = Duration::from_secs(30);
/// How long saying goodbye may take.
const FAREWELL: Duration = Duration::from_secs(1);

/// Why we end a WebSocket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
enum Ending {
    #[error("the peer is gone")]
    Gone,
    #[error("message too large")]
    TooLarge,
    #[error("too slow: events were not read in time")]
    TooSlow,
    #[error("too much at once: ask again later")]
    NoRoom,
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
            Ending::NoRoom => Some(CloseCode::Again),
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
            tungstenite::Error::Io(error) if error.get_ref().is_some_and(|cause| cause.is::<Exhausted>()) => {
                Ending::NoRoom
            }
            _ => Ending::Gone,
        }
    }
}

impl From<Behind> for Ending {
    fn from(Behind: Behind) -> Self {
        Ending::TooSlow
    }
}

/// Serves a connection that has become a WebSocket to its end; `early` was read of it already.
pub(super) async fn serve<M: Methods>(
    connection: &Connection<M>,
    is_page: bool,
    stream: TcpStream,
    early: Vec<u8>,
    stop: &CancellationToken,
) {
    let shared = &connection.shared;
    let config = settings(&shared.limits);
    let stream = Metered::new(stream, shared.buffers.clone(), connection.peer);
    let mut socket = WebSocketStream::from_partially_read(stream, early, Role::Server, Some(config)).await;
    let ending = converse(connection, is_page, &mut socket, stop).await;
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

async fn converse<M: Methods>(
    connection: &Connection<M>,
    is_page: bool,
    socket: &mut Socket,
    stop: &CancellationToken,
) -> Ending {
    let shared = &connection.shared;
    let mut session = shared.methods.session();
    loop {
        let step = tokio::select! {
            message = socket.next() => match read(socket, message) {
                Ok(Some(request)) => {
                    let caller = connection.caller(is_page, Some(&mut session));
                    answer(shared, connection.peer, socket, caller, request).await
                }
                Ok(None) => Ok(()),
                Err(ending) => Err(ending),
            },
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

/// The request in a message, if it is one.
fn read(
    socket: &mut Socket,
    message: Option<Result<Message, tungstenite::Error>>,
) -> Result<Option<Bytes>, Ending> {
    match message.ok_or(Ending::Gone)?? {
        Message::Text(text) => Ok(Some(Bytes::from(text))),
        Message::Binary(bytes) => Ok(Some(bytes)),
        Message::Close(_) => Err(Ending::Gone),
        // Pings are answered by the library.
        Message::Ping(payload) | Message::Pong(payload) => {
            socket.get_mut().skip_control(payload.len());
            Ok(None)
        }
        Message::Frame(_) => Ok(None),
    }
}

/// Answers a request, unless whoever asked leaves first.
async fn answer<M: Methods>(
    shared: &Shared<M>,
    peer: IpAddr,
    socket: &mut Socket,
    caller: Caller<'_>,
    request: Bytes,
) -> Result<(), Ending> {
    let asked = socket.get_mut().finish();
    let reply = tokio::select! {
        biased;
        reply = answer_message(&shared.methods, &request, caller) => reply,
        () = listen::gone(socket.get_ref().get_ref()) => return Err(Ending::Gone),
    };
    drop((request, asked));
    if reply.answer.is_empty() {
        return Ok(());
    }
    let (mut answer, mut charge) = (reply.answer.into_bytes(), None);
    if shared.buffers.cover(peer, &mut charge, answer.len()).is_err() {
        answer = Bytes::from_static(NO_ROOM.as_bytes());
    }
    send_text(socket, answer, &shared.limits).await
}

async fn send_all(socket: &mut Socket, events: Vec<Bytes>, limits: &Limits) -> Result<(), Ending> {
    for event in events {
        send_text(socket, event, limits).await?;
    }
    Ok(())
}

async fn send_text(socket: &mut Socket, json: Bytes, limits: &Limits) -> Result<(), Ending> {
    // Everything we write is JSON and so UTF-8; the check costs less than a wrong frame would.
    let text = Utf8Bytes::try_from(json).map_err(|_| Ending::Protocol)?;
    send(socket, Message::Text(text), limits).await
}

async fn send(socket: &mut Socket, message: Message, limits: &Limits) -> Result<(), Ending> {
    match tokio::time::timeout(limits.transfer_timeout, socket.send(message)).await {
        Ok(sent) => Ok(sent?),
        Err(_) => Err(Ending::TooSlow),
    }
}
