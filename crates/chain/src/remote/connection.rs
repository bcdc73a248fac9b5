//! One kept-alive HTTP/1.1 connection to a node.
//!
//! Whoever asks also drives the connection. A task of its own would hear of a closed connection sooner, but cost every
//! request two changes of task.

use std::{
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context, Poll, Waker},
};

use bytes::Bytes;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::{
    Request, Response,
    body::Incoming,
    client::conn::http1::{self, SendRequest},
    rt::{Read, Write},
};

use super::transport::{HttpAnswer, TransportError};

type Driver = Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>;

/// A connection on which one request is under way at a time.
pub(super) struct Connection {
    sender: SendRequest<Full<Bytes>>,
    driver: Driver,
}

impl Connection {
    /// Speaks HTTP on a stream.
    pub(super) async fn open<S>(stream: S) -> Result<Self, TransportError>
    where
        S: Read + Write + Unpin + Send + 'static,
    {
        let (sender, driver) = http1::handshake(stream).await?;
        Ok(Self { sender, driver: Box::pin(driver) })
    }

    /// Whether the node has left the connection open, as far as this machine knows.
    pub(super) fn is_open(&mut self) -> bool {
        let is_over = self.driver.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
        !is_over && self.sender.is_ready()
    }

    /// Asks, and reads an answer of so many bytes at most. Answers also whether the connection can be used again.
    ///
    /// [`TransportError::Http`] means that no answer has begun.
    pub(super) async fn exchange(
        &mut self,
        request: Request<Full<Bytes>>,
        max_bytes: usize,
    ) -> Result<(HttpAnswer, bool), TransportError> {
        let Self { sender, driver } = self;
        let asking = async {
            let response = sender.send_request(request).await?;
            let answer = read(response, max_bytes).await?;
            // Not ready means that the node wants to close it.
            Ok((answer, sender.ready().await.is_ok()))
        };
        drive(driver, asking).await
    }
}

async fn read(response: Response<Incoming>, max_bytes: usize) -> Result<HttpAnswer, TransportError> {
    let status = response.status();
    let body = Limited::new(response.into_body(), max_bytes).collect().await;
    let body = body.map_err(|error| match error.downcast::<LengthLimitError>() {
        Ok(_) => TransportError::TooLong(max_bytes),
        Err(error) => TransportError::Body(error),
    })?;
    Ok(HttpAnswer { status, body: body.to_bytes() })
}

/// Does work on a connection while the connection moves.
async fn drive<T>(driver: &mut Driver, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    let mut is_over = false;
    poll_fn(|context| {
        if let Poll::Ready(done) = work.as_mut().poll(context) {
            return Poll::Ready(done);
        }
        // Whoever waits for an answer is told how it ended.
        is_over = is_over || driver.as_mut().poll(context).is_ready();
        work.as_mut().poll(context)
    })
    .await
}
