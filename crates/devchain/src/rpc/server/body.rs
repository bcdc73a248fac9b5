//! An answer in one or more pieces.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

/// The body of a response.
pub(super) enum Pieces {
    One(Option<Bytes>),
    Many(std::vec::IntoIter<Bytes>),
}

impl Pieces {
    pub(super) fn one(bytes: Bytes) -> Self {
        Self::One(Some(bytes).filter(|bytes| !bytes.is_empty()))
    }

    pub(super) fn many(pieces: Vec<Bytes>) -> Self {
        Self::Many(pieces.into_iter())
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
            Pieces::One(bytes) => bytes.take(),
            Pieces::Many(pieces) => pieces.next(),
        };
        Poll::Ready(next.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Pieces::One(bytes) => bytes.is_none(),
            Pieces::Many(pieces) => pieces.len() == 0,
        }
    }

    fn size_hint(&self) -> SizeHint {
        let bytes = match self {
            Pieces::One(bytes) => bytes.as_ref().map_or(0, Bytes::len),
            Pieces::Many(pieces) => pieces.as_slice().iter().map(Bytes::len).sum(),
        };
        SizeHint::with_exact(bytes as u64)
    }
}
