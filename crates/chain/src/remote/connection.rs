//! One kept-alive HTTP/1.1 connection to a node.
//!
//! Whoever asks also moves the bytes. A task of its own would hear of a closed connection sooner, but cost every request two
//! changes of task.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, Waker},
};

use bytes::{Buf, Bytes, BytesMut};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};

use super::{
    dial::Wire,
    response::{self, BadResponse, Chunks, Framing},
    transport::{HttpAnswer, TransportError},
};

/// Room for the usual answer with its head, and what is asked for at a time of a longer one.
const ROOM: usize = 8 * 1024;

/// A connection on which one request is under way at a time.
pub(super) struct Connection {
    stream: Box<dyn Wire>,
}

impl Connection {
    /// Speaks HTTP on a stream.
    pub(super) fn new(stream: Box<dyn Wire>) -> Self {
        Self { stream }
    }

    /// Whether the node has left the connection open, as far as this machine knows. Nothing may come before a question.
    pub(super) fn is_open(&mut self) -> bool {
        let mut byte = [0];
        let reading = Pin::new(&mut self.stream)
            .poll_read(&mut Context::from_waker(Waker::noop()), &mut ReadBuf::new(&mut byte));
        matches!(reading, Poll::Pending)
    }

    /// Sends a head and a body, and reads an answer of so many bytes at most. Answers also whether the connection can be used
    /// again.
    ///
    /// [`TransportError::Closed`] means that no answer has begun.
    pub(super) async fn exchange(
        &mut self,
        head: Bytes,
        body: Bytes,
        max_bytes: usize,
    ) -> Result<(HttpAnswer, bool), TransportError> {
        let sent = self.stream.write_all_buf(&mut head.chain(body)).await;
        sent.map_err(TransportError::Closed)?;
        self.stream.flush().await.map_err(TransportError::Closed)?;
        let mut arrived = BytesMut::with_capacity(ROOM);
        let head = loop {
            if !self.read_more(&mut arrived).await.map_err(TransportError::Closed)? {
                let is_silent = arrived.is_empty();
                let error = io::Error::from(io::ErrorKind::UnexpectedEof);
                return Err(if is_silent {
                    TransportError::Closed(error)
                } else {
                    TransportError::Body(error)
                });
            }
            if let Some(head) = response::take_head(&mut arrived)? {
                break head;
            }
        };
        let body = match head.framing {
            Framing::Length(length) => self.read_length(&mut arrived, length, max_bytes).await?,
            Framing::Chunked => self.read_chunks(&mut arrived, max_bytes).await?,
            Framing::UntilClosed => self.read_until_closed(&mut arrived, max_bytes).await?,
        };
        // What comes after an answer belongs to nobody.
        Ok((HttpAnswer { status: head.status, body }, head.is_kept && arrived.is_empty()))
    }

    async fn read_length(
        &mut self,
        arrived: &mut BytesMut,
        length: usize,
        max_bytes: usize,
    ) -> Result<Bytes, TransportError> {
        if length > max_bytes {
            return Err(TransportError::TooLong(max_bytes));
        }
        while arrived.len() < length {
            // All at once: a long body is neither copied nor asked for in many pieces.
            arrived.reserve(length - arrived.len());
            self.read_on(arrived).await?;
        }
        Ok(arrived.split_to(length).freeze())
    }

    async fn read_chunks(
        &mut self,
        arrived: &mut BytesMut,
        max_bytes: usize,
    ) -> Result<Bytes, TransportError> {
        let (mut chunks, mut body) = (Chunks::default(), BytesMut::new());
        while !chunks.take(arrived, &mut body, max_bytes)? {
            self.read_on(arrived).await?;
        }
        Ok(body.freeze())
    }

    async fn read_until_closed(
        &mut self,
        arrived: &mut BytesMut,
        max_bytes: usize,
    ) -> Result<Bytes, TransportError> {
        while self.read_more(arrived).await.map_err(TransportError::Body)? {
            if arrived.len() > max_bytes {
                return Err(TransportError::TooLong(max_bytes));
            }
        }
        Ok(arrived.split().freeze())
    }

    /// Reads more of an answer that has not ended.
    async fn read_on(&mut self, arrived: &mut BytesMut) -> Result<(), TransportError> {
        if self.read_more(arrived).await.map_err(TransportError::Body)? {
            return Ok(());
        }
        Err(TransportError::Body(io::ErrorKind::UnexpectedEof.into()))
    }

    /// Whether there was more.
    async fn read_more(&mut self, arrived: &mut BytesMut) -> io::Result<bool> {
        if arrived.capacity() == arrived.len() {
            arrived.reserve(ROOM);
        }
        Ok(self.stream.read_buf(arrived).await? > 0)
    }
}

impl From<BadResponse> for TransportError {
    fn from(bad: BadResponse) -> Self {
        match bad {
            BadResponse::TooLong(most) => Self::TooLong(most),
            BadResponse::NotHttp
            | BadResponse::LongHead
            | BadResponse::Status
            | BadResponse::Length
            | BadResponse::Chunk => Self::NotHttp(bad),
        }
    }
}
