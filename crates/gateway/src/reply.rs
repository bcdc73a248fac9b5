//! An answer on its way out: a status, and bytes in one or more pieces.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use access::Allowance;
use bytes::Bytes;
use hyper::{
    StatusCode,
    body::{Body, Frame, SizeHint},
};
use jsonrpc::Answer;

use crate::refusal::Refusal;

/// Results longer than this are sent as a piece of their own instead of being copied.
const MIN_SHARED_BYTES: usize = 8 * 1024;

/// What came of a message, in HTTP's terms. A WebSocket has no use for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Status {
    /// It was answered, perhaps with errors.
    Ok,
    /// It is no request.
    BadRequest,
    /// The caller is not let in.
    Unauthorized,
    /// The caller lacks a permission.
    Forbidden,
    /// It is too long.
    TooLarge,
    /// The caller has used up an allowance.
    Limited,
    /// No node can answer.
    Unavailable,
    /// No node answered in time.
    TimedOut,
}

impl Status {
    /// As HTTP has it.
    pub(crate) fn code(self) -> StatusCode {
        match self {
            Self::Ok => StatusCode::OK,
            Self::BadRequest => StatusCode::BAD_REQUEST,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::Forbidden => StatusCode::FORBIDDEN,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Limited => StatusCode::TOO_MANY_REQUESTS,
            Self::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            Self::TimedOut => StatusCode::GATEWAY_TIMEOUT,
        }
    }
}

/// The answer to one message.
#[derive(Debug)]
pub(crate) struct Reply {
    /// What came of it.
    pub(crate) status: Status,
    /// The JSON; empty if the message was nothing but notifications.
    pub(crate) body: Pieces,
    /// When to try again, if it was refused for now.
    pub(crate) retry_after: Option<Duration>,
    /// What is left of the caller's allowance.
    pub(crate) allowance: Option<Allowance>,
}

impl Reply {
    /// The answer to a message that is refused as a whole.
    pub(crate) fn refused(id: Option<&str>, refusal: &Refusal) -> Self {
        let mut out = Vec::with_capacity(192);
        jsonrpc::write_error(&mut out, id, &refusal.error());
        Self {
            status: refusal.status(),
            body: Pieces::one(out.into()),
            retry_after: refusal.retry_after(),
            allowance: None,
        }
    }

    /// No answer, to notifications.
    pub(crate) fn nothing() -> Self {
        Self { status: Status::Ok, body: Pieces::one(Bytes::new()), retry_after: None, allowance: None }
    }

    /// The whole JSON in one piece, for a WebSocket.
    pub(crate) fn into_bytes(self) -> Bytes {
        self.body.into_bytes()
    }
}

/// Writes answers one after the other, big results as pieces of their own.
#[derive(Default)]
pub(crate) struct Writer {
    own: Vec<u8>,
    /// Shared pieces with the position in `own` before which they belong, in order.
    shared: Vec<(usize, Bytes)>,
    shared_bytes: usize,
}

impl Writer {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { own: Vec::with_capacity(bytes), ..Self::default() }
    }

    /// Bytes written so far.
    pub(crate) fn len(&self) -> usize {
        self.own.len() + self.shared_bytes
    }

    pub(crate) fn text(&mut self, json: &[u8]) {
        self.own.extend_from_slice(json);
    }

    /// Puts rendered JSON in, without copying it if it is big.
    pub(crate) fn shared(&mut self, json: Bytes) {
        if json.len() < MIN_SHARED_BYTES {
            self.own.extend_from_slice(&json);
        } else {
            self.shared_bytes += json.len();
            self.shared.push((self.own.len(), json));
        }
    }

    /// Writes the answer to one request.
    pub(crate) fn answer(&mut self, id: &str, answer: Answer) {
        match answer {
            Answer::Result(result) => {
                self.own
                    .reserve(id.len() + 48 + if result.len() < MIN_SHARED_BYTES { result.len() } else { 0 });
                jsonrpc::write_result(&mut self.own, id);
                self.shared(result);
                jsonrpc::write_result_end(&mut self.own);
            }
            Answer::Error(error) => jsonrpc::write_error_json(&mut self.own, Some(id), &error),
        }
    }

    /// Writes the refusal of one request.
    pub(crate) fn refusal(&mut self, id: Option<&str>, refusal: &Refusal) {
        jsonrpc::write_error(&mut self.own, id, &refusal.error());
    }

    pub(crate) fn into_pieces(self) -> Pieces {
        if self.shared.is_empty() {
            return Pieces::one(self.own.into());
        }
        let own = Bytes::from(self.own);
        let mut pieces = Vec::with_capacity(self.shared.len() * 2 + 1);
        let mut sent = 0;
        for (at, piece) in self.shared {
            pieces.push(own.slice(sent..at));
            pieces.push(piece);
            sent = at;
        }
        pieces.push(own.slice(sent..));
        pieces.retain(|piece| !piece.is_empty());
        Pieces::many(pieces)
    }
}

/// The body of a response.
#[derive(Debug)]
pub(crate) enum Pieces {
    /// At most one piece.
    One(Option<Bytes>),
    /// Several.
    Many(std::vec::IntoIter<Bytes>),
}

impl Pieces {
    /// A body in one piece.
    pub(crate) fn one(bytes: Bytes) -> Self {
        Self::One(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }

    fn many(pieces: Vec<Bytes>) -> Self {
        Self::Many(pieces.into_iter())
    }

    /// The whole body.
    pub(crate) fn into_bytes(self) -> Bytes {
        match self {
            Self::One(bytes) => bytes.unwrap_or_default(),
            Self::Many(pieces) => pieces.as_slice().concat().into(),
        }
    }
}

impl Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let next = match &mut *self {
            Self::One(bytes) => bytes.take(),
            Self::Many(pieces) => pieces.next(),
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::One(bytes) => bytes.is_none(),
            Self::Many(pieces) => pieces.len() == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        let bytes = match self {
            Self::One(bytes) => bytes.as_ref().map_or(0, Bytes::len),
            Self::Many(pieces) => pieces.as_slice().iter().map(Bytes::len).sum(),
        };
        SizeHint::with_exact(bytes as u64)
    }
}
