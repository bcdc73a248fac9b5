//! A small HTTP client: one request, one connection.

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Method, Request, StatusCode, client::conn::http1, header};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::{
    net::TcpStream,
    time::{Instant, sleep},
};

/// How long a condition may take to come true on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Pause between two looks.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// An HTTP answer as it came.
#[derive(Debug, Clone)]
pub struct HttpAnswer {
    /// The HTTP status.
    pub status: StatusCode,
    /// The headers.
    pub headers: HeaderMap,
    /// The body's bytes.
    pub body: Bytes,
}

impl HttpAnswer {
    /// The body as JSON; null if it is none.
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

/// Why there was no answer.
#[derive(Debug, thiserror::Error)]
pub enum HttpError {
    /// No connection.
    #[error("cannot connect")]
    Connect(#[from] std::io::Error),
    /// The connection broke.
    #[error("the connection broke")]
    Transport(#[from] hyper::Error),
    /// The path or a header is none.
    #[error("not a request")]
    Request(#[from] hyper::http::Error),
    /// The answer that was waited for did not come.
    #[error("{path} was not as expected within {} s; the last answer was {last}", PATIENCE.as_secs())]
    TooSlow {
        /// What was asked for.
        path: String,
        /// What came instead.
        last: String,
    },
}

/// A client of the server at an address.
#[derive(Debug, Clone, Copy)]
pub struct HttpClient {
    address: SocketAddr,
}

impl HttpClient {
    /// A client of the server at this address.
    pub fn new(address: SocketAddr) -> Self {
        Self { address }
    }

    /// The server's address.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Reads a path.
    pub async fn get(&self, path: &str) -> Result<HttpAnswer, HttpError> {
        self.get_with(path, &[]).await
    }

    /// Reads a path with more headers.
    pub async fn get_with(&self, path: &str, headers: &[(&str, &str)]) -> Result<HttpAnswer, HttpError> {
        self.send(Method::GET, path, headers, Bytes::new()).await
    }

    /// Posts JSON.
    pub async fn post(&self, path: &str, body: &Value) -> Result<HttpAnswer, HttpError> {
        self.post_with(path, &[], body).await
    }

    /// Posts JSON with more headers.
    pub async fn post_with(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> Result<HttpAnswer, HttpError> {
        self.send(Method::POST, path, headers, Bytes::from(body.to_string())).await
    }

    /// Deletes what is at a path.
    pub async fn delete_with(&self, path: &str, headers: &[(&str, &str)]) -> Result<HttpAnswer, HttpError> {
        self.send(Method::DELETE, path, headers, Bytes::new()).await
    }

    /// Reads a path until the answer is as wanted.
    pub async fn wait_for(
        &self,
        path: &str,
        wanted: impl Fn(&HttpAnswer) -> bool,
    ) -> Result<HttpAnswer, HttpError> {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = self.get(path).await;
            match answer {
                Ok(answer) if wanted(&answer) => return Ok(answer),
                answer if Instant::now() > deadline => {
                    return Err(HttpError::TooSlow { path: path.to_owned(), last: format!("{answer:?}") });
                }
                Ok(_) | Err(_) => sleep(POLL_INTERVAL).await,
            }
        }
    }

    async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Bytes,
    ) -> Result<HttpAnswer, HttpError> {
        let stream = TcpStream::connect(self.address).await?;
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
        // A broken connection shows at the request; its own error adds nothing.
        tokio::spawn(async move { drop(connection.await) });
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header(header::HOST, self.address.to_string())
            .header(header::CONTENT_TYPE, "application/json");
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (head, body) = sender.send_request(request.body(Full::new(body))?).await?.into_parts();
        let body = body.collect().await?.to_bytes();
        Ok(HttpAnswer { status: head.status, headers: head.headers, body })
    }
}
