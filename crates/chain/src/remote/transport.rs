//! HTTP/1.1 to one node: bytes in, bytes out, over a bounded set of kept-alive connections.
//!
//! The pool is our own, because a node closes its door beyond a number of connections (Besu: 80 for all who ask) and
//! hyper-util's pool knows no upper bound. Nothing here knows JSON.

use std::{sync::Arc, time::Duration};

use bytes::{BufMut, Bytes, BytesMut};
use http1::BadResponse;
use hyper::StatusCode;
use parking_lot::Mutex;
use tokio::{
    runtime::{self, Handle},
    sync::Semaphore,
};

use super::{RemoteConfig, connection::Connection, dial::Dialer, url::Endpoint};

/// Why a node gave no HTTP answer.
#[derive(Debug, thiserror::Error)]
pub(super) enum TransportError {
    /// The node cannot be reached.
    #[error("cannot connect")]
    Connect(#[source] std::io::Error),
    /// It did not answer within the time limit.
    #[error("no answer within {0:?}")]
    TimedOut(Duration),
    /// The connection ended before an answer began.
    #[error("the connection was closed")]
    Closed(#[source] std::io::Error),
    /// What came back is not HTTP.
    #[error("the answer is not HTTP")]
    NotHttp(#[source] BadResponse),
    /// The answer is longer than allowed.
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    /// The answer broke off.
    #[error("the answer broke off")]
    Body(#[source] std::io::Error),
}

/// What a node answered.
#[derive(Debug, Clone)]
pub(super) struct HttpAnswer {
    /// HTTP status.
    pub(super) status: StatusCode,
    /// The body, whole.
    pub(super) body: Bytes,
}

/// What all requests to a node begin with, up to the length of the body.
fn head_of(endpoint: &Endpoint) -> Bytes {
    let mut head = BytesMut::new();
    head.put_slice(b"POST ");
    head.put_slice(endpoint.path_and_query.as_bytes());
    head.put_slice(b" HTTP/1.1\r\nhost: ");
    head.put_slice(endpoint.authority().as_bytes());
    head.put_slice(b"\r\ncontent-type: application/json\r\n");
    if let Some(authorization) = &endpoint.authorization {
        head.put_slice(b"authorization: ");
        head.put_slice(authorization.as_bytes());
        head.put_slice(b"\r\n");
    }
    head.put_slice(b"content-length: ");
    head.freeze()
}

/// The way to one node.
pub(super) struct HttpTransport {
    endpoint: Endpoint,
    head: Bytes,
    dialer: Arc<Dialer>,
    places: Semaphore,
    max_connections: usize,
    /// Kept connections, the one used last at the end, each with the runtime that opened it and hears what the node answers.
    idle: Mutex<Vec<(runtime::Id, Connection)>>,
    timeout: Duration,
    max_answer_bytes: usize,
}

impl HttpTransport {
    pub(super) fn new(endpoint: Endpoint, dialer: Arc<Dialer>, config: &RemoteConfig) -> Self {
        let max_connections = config.max_connections.max(1);
        Self {
            head: head_of(&endpoint),
            endpoint,
            dialer,
            places: Semaphore::new(max_connections),
            max_connections,
            idle: Mutex::default(),
            timeout: config.request_timeout,
            max_answer_bytes: config.max_answer_bytes,
        }
    }

    /// Requests under way.
    pub(super) fn in_flight(&self) -> usize {
        self.max_connections - self.places.available_permits()
    }

    /// Posts a JSON body and reads the answer. When all connections are busy it waits for one, within the same limit.
    pub(super) async fn post(&self, body: &[u8]) -> Result<HttpAnswer, TransportError> {
        let exchange = async {
            let closed = |error| TransportError::Connect(std::io::Error::other(error));
            let _place = self.places.acquire().await.map_err(closed)?;
            self.exchange(body).await
        };
        let answer = tokio::time::timeout(self.timeout, exchange).await;
        answer.map_err(|_| TransportError::TimedOut(self.timeout))?
    }

    async fn exchange(&self, body: &[u8]) -> Result<HttpAnswer, TransportError> {
        let here = Handle::current().id();
        // A kept connection may have been closed by the node a moment ago; that says nothing about the node.
        if let Some((home, connection)) = self.kept_connection(here) {
            match self.ask(home, connection, body).await {
                Err(TransportError::Closed(_)) => {}
                answered => return answered,
            }
        }
        let stream = self.dialer.dial(&self.endpoint).await.map_err(TransportError::Connect)?;
        self.ask(here, Connection::new(stream), body).await
    }

    /// A kept connection of this runtime, or of any if there may be no more. One of another is heard by other threads first.
    fn kept_connection(&self, here: runtime::Id) -> Option<(runtime::Id, Connection)> {
        let mut idle = self.idle.lock();
        loop {
            let own = idle.iter().rposition(|(home, _)| *home == here);
            let may_open = idle.len() + self.in_flight() <= self.max_connections;
            let any = (!may_open && !idle.is_empty()).then_some(0);
            let (home, mut connection) = idle.remove(own.or(any)?);
            if connection.is_open() {
                return Some((home, connection));
            }
        }
    }

    async fn ask(
        &self,
        home: runtime::Id,
        mut connection: Connection,
        body: &[u8],
    ) -> Result<HttpAnswer, TransportError> {
        let (answer, is_reusable) = connection.exchange(&self.head, body, self.max_answer_bytes).await?;
        if is_reusable {
            self.idle.lock().push((home, connection));
        }
        Ok(answer)
    }
}
