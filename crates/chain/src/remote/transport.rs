//! HTTP/1.1 to one node: bytes in, bytes out, over a bounded set of kept-alive connections.
//!
//! The pool is our own, because a node closes its door beyond a number of connections (Besu: 80 for all who ask) and
//! hyper-util's pool knows no upper bound. Nothing here knows JSON.

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, StatusCode, header, http::request};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::sync::Semaphore;

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
    /// The connection broke, or what came back is not HTTP.
    #[error("the connection failed")]
    Http(#[from] hyper::Error),
    /// The answer is longer than allowed.
    #[error("the answer is longer than {0} bytes")]
    TooLong(usize),
    /// The answer broke off.
    #[error("the answer broke off")]
    Body(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The request cannot be written, because of the path in the URL.
    #[error("the request cannot be made")]
    Request(#[from] hyper::http::Error),
}

/// What a node answered.
#[derive(Debug, Clone)]
pub(super) struct HttpAnswer {
    /// HTTP status.
    pub(super) status: StatusCode,
    /// The body, whole.
    pub(super) body: Bytes,
}

/// What all requests to a node begin with.
fn head_of(endpoint: &Endpoint) -> Result<request::Parts, hyper::http::Error> {
    let mut request = Request::post(&endpoint.path_and_query)
        .header(header::HOST, endpoint.authority())
        .header(header::CONTENT_TYPE, "application/json");
    if let Some(authorization) = &endpoint.authorization {
        request = request.header(header::AUTHORIZATION, authorization);
    }
    Ok(request.body(())?.into_parts().0)
}

/// The way to one node.
pub(super) struct HttpTransport {
    endpoint: Endpoint,
    /// Made with the first request.
    head: OnceLock<request::Parts>,
    dialer: Arc<Dialer>,
    places: Semaphore,
    max_connections: usize,
    idle: Mutex<Vec<Connection>>,
    timeout: Duration,
    max_answer_bytes: usize,
}

impl HttpTransport {
    pub(super) fn new(endpoint: Endpoint, dialer: Arc<Dialer>, config: &RemoteConfig) -> Self {
        let max_connections = config.max_connections.max(1);
        Self {
            endpoint,
            head: OnceLock::new(),
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
    pub(super) async fn post(&self, body: Bytes) -> Result<HttpAnswer, TransportError> {
        let exchange = async {
            let closed = |error| TransportError::Connect(std::io::Error::other(error));
            let _place = self.places.acquire().await.map_err(closed)?;
            self.exchange(body).await
        };
        let answer = tokio::time::timeout(self.timeout, exchange).await;
        answer.map_err(|_| TransportError::TimedOut(self.timeout))?
    }

    async fn exchange(&self, body: Bytes) -> Result<HttpAnswer, TransportError> {
        // A kept connection may have been closed by the node a moment ago; that says nothing about the node.
        if let Some(connection) = self.kept_connection() {
            match self.ask(connection, body.clone()).await {
                Err(TransportError::Http(_)) => {}
                answered => return answered,
            }
        }
        let stream = self.dialer.dial(&self.endpoint).await.map_err(TransportError::Connect)?;
        self.ask(Connection::open(TokioIo::new(stream)).await?, body).await
    }

    fn kept_connection(&self) -> Option<Connection> {
        let mut idle = self.idle.lock();
        while let Some(mut connection) = idle.pop() {
            if connection.is_open() {
                return Some(connection);
            }
        }
        None
    }

    async fn ask(&self, mut connection: Connection, body: Bytes) -> Result<HttpAnswer, TransportError> {
        let (answer, is_reusable) = connection.exchange(self.request(body)?, self.max_answer_bytes).await?;
        if is_reusable {
            self.idle.lock().push(connection);
        }
        Ok(answer)
    }

    fn request(&self, body: Bytes) -> Result<Request<Full<Bytes>>, TransportError> {
        let head = match self.head.get() {
            Some(head) => head,
            None => {
                let head = head_of(&self.endpoint)?;
                self.head.get_or_init(|| head)
            }
        };
        Ok(Request::from_parts(head.clone(), Full::new(body)))
    }
}
