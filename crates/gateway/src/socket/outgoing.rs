//! Writing to a WebSocket: whole messages within a time limit, long ones in fragments.

use std::time::Duration;

use bytes::Bytes;
use futures_util::SinkExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::{
    WebSocketStream,
    tungstenite::{
        Message, Utf8Bytes,
        protocol::frame::{
            Frame,
            coding::{Data, OpCode},
        },
    },
};

use super::ending::Ending;

/// Longer messages go out in fragments of this size: the connection's buffer keeps the size of the longest frame.
const FRAGMENT: usize = 16 * 1024;

/// The event of a subscription: the same text for everybody but for the id.
pub(super) fn event(id: u64, result: &str) -> Utf8Bytes {
    let head = r#"{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x"#;
    format!("{head}{id:x}\",\"result\":{result}}}}}").into()
}

/// Queues a message.
pub(super) async fn feed<S>(
    socket: &mut WebSocketStream<S>,
    message: Message,
    patience: Duration,
) -> Result<(), Ending>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    match tokio::time::timeout(patience, socket.feed(message)).await {
        Ok(fed) => Ok(fed?),
        Err(_) => Err(Ending::TooSlow),
    }
}

/// Sends what is queued.
pub(super) async fn flush<S>(socket: &mut WebSocketStream<S>, patience: Duration) -> Result<(), Ending>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    match tokio::time::timeout(patience, socket.flush()).await {
        Ok(flushed) => Ok(flushed?),
        Err(_) => Err(Ending::TooSlow),
    }
}

/// Sends JSON.
pub(super) async fn send_json<S>(
    socket: &mut WebSocketStream<S>,
    json: Bytes,
    patience: Duration,
) -> Result<(), Ending>
where
    S: AsyncRead + AsyncWrite + Unpin,
{
    // What nodes answer is not ours; a peer would take a wrong byte for our mistake.
    let mut rest = Bytes::from(Utf8Bytes::try_from(json).map_err(|_| Ending::Protocol)?);
    let mut kind = Data::Text;
    while rest.len() > FRAGMENT {
        let fragment = Frame::message(rest.split_to(FRAGMENT), OpCode::Data(kind), false);
        feed(socket, Message::Frame(fragment), patience).await?;
        kind = Data::Continue;
    }
    feed(socket, Message::Frame(Frame::message(rest, OpCode::Data(kind), true)), patience).await?;
    flush(socket, patience).await
}
