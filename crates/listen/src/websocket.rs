//! From an HTTP request to a WebSocket, and what arrives on it.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use http::{HeaderValue, StatusCode};
use http1::{Headers, Request};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Instant,
};
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

use crate::{Budget, Charge, Party, Pieces, Response};

/// Messages are charged in steps of this.
const STEP: usize = 64 * 1024;
/// Bytes of a client's control frame beside what it says.
const CONTROL_BYTES: usize = 6;

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

/// A WebSocket's connection. What has arrived of a message that is not whole is charged to whoever sends it; if there is no room for it,
/// reading fails with [`crate::Exhausted`].
pub struct Metered<S, K: Party> {
    stream: S,
    budget: Budget<K>,
    party: K,
    /// Bytes since the last whole message.
    unfinished: usize,
    charge: Option<Charge<K>>,
    charged_since: Option<Instant>,
}

impl<S, K: Party> Metered<S, K> {
    /// A connection of a party.
    pub fn new(stream: S, budget: Budget<K>, party: K) -> Self {
        Self { stream, budget, party, unfinished: 0, charge: None, charged_since: None }
    }

    /// The connection itself.
    pub fn get_ref(&self) -> &S {
        &self.stream
    }

    /// The connection alone.
    pub fn into_inner(self) -> S {
        self.stream
    }

    /// A message is whole. What is charged for it is charged for as long as it is kept.
    pub fn finish(&mut self) -> Option<Charge<K>> {
        self.unfinished = 0;
        self.charged_since = None;
        self.charge.take()
    }

    /// A control frame has come, which is no part of a message.
    pub fn skip_control(&mut self, payload: usize) {
        self.unfinished = self.unfinished.saturating_sub(CONTROL_BYTES + payload);
    }

    /// Since when a long message is on its way.
    pub fn unfinished_since(&self) -> Option<Instant> {
        self.charged_since
    }

    fn count(&mut self, read: usize) -> io::Result<()> {
        self.unfinished += read;
        let bytes = self.unfinished;
        let bytes = if bytes > STEP { bytes.next_multiple_of(STEP) } else { bytes };
        self.budget.cover(self.party, &mut self.charge, bytes).map_err(io::Error::other)?;
        if self.charge.is_some() && self.charged_since.is_none() {
            self.charged_since = Some(Instant::now());
        }
        Ok(())
    }
}

impl<S: AsyncRead + Unpin, K: Party + Unpin> AsyncRead for Metered<S, K> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(cx, buf))?;
        Poll::Ready(self.count(buf.filled().len() - before))
    }
}

impl<S: AsyncWrite + Unpin, K: Party + Unpin> AsyncWrite for Metered<S, K> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
