//! A connection's bytes, given up when its client does not take what it asked for.
//!
//! Every answer, stream of events and WebSocket goes through here, so that none of them needs a time limit of its own for clients that
//! do not read.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
    time::{Sleep, sleep},
};

/// Bytes that a client has to take within the time limit, unless it takes all there are: slower ones hold more than they get.
const LEAST_BYTES: usize = 16 * 1024;

/// A connection whose client has to take what is sent.
pub(super) struct BoundedStream {
    stream: TcpStream,
    time_limit: Duration,
    /// Set while the client keeps us waiting.
    stall: Option<Stall>,
}

struct Stall {
    /// Until when it has to have taken enough.
    deadline: Pin<Box<Sleep>>,
    taken: usize,
}

impl BoundedStream {
    pub(super) fn new(stream: TcpStream, time_limit: Duration) -> Self {
        Self { stream, time_limit, stall: None }
    }

    /// What became of a write: progress ends a stall when there was enough of it, and a stall ends the connection when it is too long.
    fn judge(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        match written {
            Poll::Ready(Ok(bytes)) => {
                if let Some(stall) = &mut self.stall {
                    stall.taken = stall.taken.saturating_add(bytes);
                }
                self.stall.take_if(|stall| stall.taken >= LEAST_BYTES);
                Poll::Ready(Ok(bytes))
            }
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            Poll::Pending => {
                let time_limit = self.time_limit;
                let stall = self
                    .stall
                    .get_or_insert_with(|| Stall { deadline: Box::pin(sleep(time_limit)), taken: 0 });
                ready!(stall.deadline.as_mut().poll(cx));
                Poll::Ready(Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the client does not take its answer",
                )))
            }
        }
    }
}

impl AsyncRead for BoundedStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for BoundedStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write(cx, buf);
        this.judge(cx, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let written = Pin::new(&mut this.stream).poll_write_vectored(cx, bufs);
        this.judge(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    /// Called when all there was has been written.
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.stall = None;
        Pin::new(&mut this.stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}
