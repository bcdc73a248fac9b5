//! Bodies in both directions: a bounded request body, and an answer in one or more pieces.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::{Body, Frame, Incoming, SizeHint};

/// Why a request body could not be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum BodyError {
    #[error("the body is larger than {0} bytes")]
    TooLarge(usize),
    #[error("the connection failed while the body was read")]
    Broken(#[from] hyper::Error),
}

/// Reads a body of bounded size. The usual body comes in one frame and is not copied.
pub(super) async fn read(mut body: Incoming, most: usize) -> Result<Bytes, BodyError> {
    if body.size_hint().lower() > most as u64 {
        return Err(BodyError::TooLarge(most));
    }
    let first = match next_data(&mut body).await? {
        Some(data) if data.len() > most => return Err(BodyError::TooLarge(most)),
        Some(data) if body.is_end_stream() => return Ok(data),
        Some(data) => data,
        None => return Ok(Bytes::new()),
    };
    let mut whole = BytesMut::from(first.as_ref());
    while let Some(data) = next_data(&mut body).await? {
        if whole.len() + data.len() > most {
            return Err(BodyError::TooLarge(most));
        }
        whole.extend_from_slice(&data);
    }
    Ok(whole.freeze())
}

async fn next_data(body: &mut Incoming) -> Result<Option<Bytes>, hyper::Error> {
    while let Some(frame) = body.frame().await {
        // Trailers carry nothing that we use.
        if let Ok(data) = frame?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

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
