//! One kept-alive HTTP/1.1 connection to a node.
//!
//! Whoever asks also moves the bytes. A task of its own would hear of a closed connection sooner, but cost every request two
//! changes of task.

use std::{
    io::{self, Write},
    pin::Pin,
    task::{Context, Poll, Waker},
};

use bytes::{Buf, Bytes, BytesMut};
use http1::{BadFraming, BadResponse, Chunks, Framing, take_head};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt, ReadBuf};

use super::{
    dial::Wire,
    transport::{HttpAnswer, TransportError},
};

/// Room for the usual answer with its head, and what is asked for at a time of a longer one.
const ROOM: usize = 8 * 1024;

/// Answers up to this length are copied out of the connection's buffer. An answer may be kept for long, and would keep all of the buffer.
const COPIED_ANSWER: usize = 4 * 1024;
/// Requests up to this length are copied behind their head.
const COPIED_REQUEST: usize = 16 * 1024;

/// A connection on which one request is under way at a time.
pub(super) struct Connection {
    stream: Box<dyn Wire>,
    /// What has arrived of an answer.
    arrived: BytesMut,
    /// What is sent of a request.
    out: Vec<u8>,
}

impl Connection {
    /// Speaks HTTP on a stream.
    pub(super) fn new(stream: Box<dyn Wire>) -> Self {
        Self { stream, arrived: BytesMut::new(), out: Vec::new() }
    }

    /// Whether the node has left the connection open, as far as this machine knows. Nothing may come before a question.
    pub(super) fn is_open(&mut self) -> bool {
        let mut byte = [0];
        let reading = Pin::new(&mut self.stream)
            .poll_read(&mut Context::from_waker(Waker::noop()), &mut ReadBuf::new(&mut byte));
        matches!(reading, Poll::Pending)
    }

    /// Sends a request, whose head is given up to the length of the body, and reads an answer of so many bytes at most. Answers also
    /// whether the connection can be used again.
    ///
    /// [`TransportError::Closed`] means that no answer has begun.
    pub(super) async fn exchange(
        &mut self,
        head: &[u8],
        body: &[u8],
        max_bytes: usize,
    ) -> Result<(HttpAnswer, bool), TransportError> {
        self.send(head, body).await.map_err(TransportError::Closed)?;
        let head = loop {
            if !self.read_more().await.map_err(TransportError::Closed)? {
                let is_silent = self.arrived.is_empty();
                let error = io::Error::from(io::ErrorKind::UnexpectedEof);
                return Err(if is_silent {
                    TransportError::Closed(error)
                } else {
                    TransportError::Body(error)
                });
            }
            if let Some(head) = take_head(&mut self.arrived)? {
                break head;
            }
        };
        let body = match head.framing {
            Framing::Length(length) => self.read_length(length, max_bytes).await?,
            Framing::Chunked => self.read_chunks(max_bytes).await?,
            Framing::UntilClosed => self.read_until_closed(max_bytes).await?,
        };
        // What comes after an answer belongs to nobody.
        Ok((HttpAnswer { status: head.status, body }, head.is_kept && self.arrived.is_empty()))
    }

    async fn send(&mut self, head: &[u8], body: &[u8]) -> io::Result<()> {
        self.out.clear();
        self.out.extend_from_slice(head);
        // Writing into memory cannot fail.
        let _ = write!(self.out, "{}\r\n\r\n", body.len());
        if body.len() <= COPIED_REQUEST {
            self.out.extend_from_slice(body);
            self.stream.write_all(&self.out).await?;
        } else {
            self.stream.write_all_buf(&mut Buf::chain(self.out.as_slice(), body)).await?;
        }
        self.stream.flush().await
    }

    async fn read_length(&mut self, length: usize, max_bytes: usize) -> Result<Bytes, TransportError> {
        if length > max_bytes {
            return Err(TransportError::TooLong(max_bytes));
        }
        while self.arrived.len() < length {
            // All at once: a long body is neither copied nor asked for in many pieces.
            self.arrived.reserve(length - self.arrived.len());
            self.read_on().await?;
        }
        if length > COPIED_ANSWER {
            return Ok(self.arrived.split_to(length).freeze());
        }
        let body = self.arrived.get(..length).map(Bytes::copy_from_slice).unwrap_or_default();
        self.arrived.advance(length);
        Ok(body)
    }

    async fn read_chunks(&mut self, max_bytes: usize) -> Result<Bytes, TransportError> {
        let (mut chunks, mut body) = (Chunks::default(), BytesMut::new());
        while !chunks.take(&mut self.arrived, &mut body, max_bytes)? {
            self.read_on().await?;
        }
        Ok(if body.len() > COPIED_ANSWER { body.freeze() } else { Bytes::copy_from_slice(&body) })
    }

    async fn read_until_closed(&mut self, max_bytes: usize) -> Result<Bytes, TransportError> {
        while self.read_more().await.map_err(TransportError::Body)? {
            if self.arrived.len() > max_bytes {
                return Err(TransportError::TooLong(max_bytes));
            }
        }
        Ok(self.arrived.split().freeze())
    }

    /// Reads more of an answer that has not ended.
    async fn read_on(&mut self) -> Result<(), TransportError> {
        if self.read_more().await.map_err(TransportError::Body)? {
            return Ok(());
        }
        Err(TransportError::Body(io::ErrorKind::UnexpectedEof.into()))
    }

    /// Whether there was more.
    async fn read_more(&mut self) -> io::Result<bool> {
        if self.arrived.is_empty() || self.arrived.capacity() == self.arrived.len() {
            self.arrived.reserve(ROOM);
        }
        Ok(self.stream.read_buf(&mut self.arrived).await? > 0)
    }
}

impl From<BadResponse> for TransportError {
    fn from(bad: BadResponse) -> Self {
        match bad {
            BadResponse::Framing(BadFraming::TooLong(most)) => Self::TooLong(most),
            BadResponse::Framing(BadFraming::Length | BadFraming::Chunk)
            | BadResponse::NotHttp
            | BadResponse::LongHead
            | BadResponse::Status => Self::NotHttp(bad),
        }
    }
}

impl From<BadFraming> for TransportError {
    fn from(bad: BadFraming) -> Self {
        BadResponse::from(bad).into()
    }
}
