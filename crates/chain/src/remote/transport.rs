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
    sync::{AcquireError, Semaphore, SemaphorePermit},
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

/// On whose behalf a node is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Somebody wants to know.
    Read,
    /// The same once more, because what came over a kept connection was not the answer.
    ReadAnew,
    /// We want to know how the node is: there is always a connection for that, whatever others ask.
    Probe,
}

/// The connection that an answer came over. It is used again only if the answer turns out to be that of the request: otherwise the next
/// request on it would get this one's.
pub(super) struct Used<'a> {
    transport: &'a HttpTransport,
    connection: Option<(runtime::Id, Connection)>,
    /// Whether the request was sent a second time, after a connection had been closed without a word: the node may have got it twice.
    /// That is harmless for all that is asked. Reads change nothing, and a transaction is known by its hash: a node that has it already
    /// says so.
    pub(super) is_resent: bool,
    _place: SemaphorePermit<'a>,
}

impl Used<'_> {
    /// The answer was the right one.
    pub(super) fn reuse(self) {
        self.transport.idle.lock().extend(self.connection);
    }
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
    max_connections: usize,
    /// Connections for what others ask.
    places: Semaphore,
    max_places: usize,
    /// The one for our own questions.
    probes: Semaphore,
    /// Kept connections, the one used last at the end, each with the runtime that opened it and hears what the node answers.
    idle: Mutex<Vec<(runtime::Id, Connection)>>,
    timeout: Duration,
    max_answer_bytes: usize,
}

impl HttpTransport {
    pub(super) fn new(endpoint: Endpoint, dialer: Arc<Dialer>, config: &RemoteConfig) -> Self {
        let max_places = config.max_places();
        Self {
            head: head_of(&endpoint),
            endpoint,
            dialer,
            max_connections: config.max_connections.max(1),
            places: Semaphore::new(max_places),
            max_places,
            probes: Semaphore::new(1),
            idle: Mutex::default(),
            timeout: config.request_timeout,
            max_answer_bytes: config.max_answer_bytes,
        }
    }

    /// Requests of others under way.
    pub(super) fn in_flight(&self) -> usize {
        self.max_places - self.places.available_permits()
    }

    /// Posts a JSON body and reads the answer. When all connections are busy it waits for one, within the same limit.
    pub(super) async fn post(
        &self,
        body: &[u8],
        purpose: Purpose,
    ) -> Result<(HttpAnswer, Used<'_>), TransportError> {
        let exchange = async {
            let closed = |error: AcquireError| TransportError::Connect(std::io::Error::other(error));
            let places = match purpose {
                Purpose::Read | Purpose::ReadAnew => &self.places,
                Purpose::Probe => &self.probes,
            };
            let place = places.acquire().await.map_err(closed)?;
            self.exchange(body, purpose, place).await
        };
        let answer = tokio::time::timeout(self.timeout, exchange).await;
        answer.map_err(|_| TransportError::TimedOut(self.timeout))?
    }

    async fn exchange<'a>(
        &'a self,
        body: &[u8],
        purpose: Purpose,
        place: SemaphorePermit<'a>,
    ) -> Result<(HttpAnswer, Used<'a>), TransportError> {
        let here = Handle::current().id();
        let kept = if purpose == Purpose::ReadAnew { None } else { self.kept_connection(here) };
        let mut used = Used { transport: self, connection: None, is_resent: false, _place: place };
        // A kept connection may have been closed by the node a moment ago; that says nothing about the node.
        if let Some((home, connection)) = kept {
            match self.ask(home, connection, body, &mut used).await {
                Err(TransportError::Closed(_)) => used.is_resent = true,
                answered => return Ok((answered?, used)),
            }
        }
        let stream = self.dialer.dial(&self.endpoint).await.map_err(TransportError::Connect)?;
        let answer = self.ask(here, Connection::new(stream), body, &mut used).await?;
        Ok((answer, used))
    }

    /// A kept connection of this runtime, or of any if there may be no more. One of another is heard by other threads first.
    fn kept_connection(&self, here: runtime::Id) -> Option<(runtime::Id, Connection)> {
        let mut idle = self.idle.lock();
        loop {
            let own = idle.iter().rposition(|(home, _)| *home == here);
            let is_probed = usize::from(self.probes.available_permits() == 0);
            let may_open = idle.len() + self.in_flight() + is_probed <= self.max_connections;
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
        used: &mut Used<'_>,
    ) -> Result<HttpAnswer, TransportError> {
        let (answer, is_reusable) = connection.exchange(&self.head, body, self.max_answer_bytes).await?;
        used.connection = is_reusable.then_some((home, connection));
        Ok(answer)
    }
}
