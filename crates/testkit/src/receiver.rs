//! A webhook receiver on loopback that remembers what it was sent, and when.

use std::{
    convert::Infallible,
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex,
        atomic::{AtomicU16, Ordering},
    },
    time::Instant,
};

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::{
    HeaderMap, Request, Response, StatusCode, body::Incoming, server::conn::http1, service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::{
    net::TcpListener,
    sync::Notify,
    task::{JoinHandle, JoinSet},
};

/// What was sent.
#[derive(Debug, Clone)]
pub struct Received {
    /// When it was here whole.
    pub at: Instant,
    /// Its headers.
    pub headers: HeaderMap,
    /// Its body, to the byte.
    pub body: Bytes,
}

/// A receiver; it stops when dropped.
#[derive(Debug)]
pub struct Receiver {
    address: SocketAddr,
    inbox: Arc<Inbox>,
    server: JoinHandle<()>,
}

#[derive(Debug)]
struct Inbox {
    received: Mutex<Vec<Received>>,
    arrived: Notify,
    status: AtomicU16,
}

impl Receiver {
    /// Listens on a free port and answers 204.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let inbox = Arc::new(Inbox {
            received: Mutex::default(),
            arrived: Notify::new(),
            status: AtomicU16::new(StatusCode::NO_CONTENT.as_u16()),
        });
        let server = tokio::spawn(serve(listener, inbox.clone()));
        Ok(Self { address, inbox, server })
    }

    /// The URL to save.
    pub fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// Answers this status from now on.
    pub fn answer(&self, status: StatusCode) {
        self.inbox.status.store(status.as_u16(), Ordering::Relaxed);
    }

    /// Everything that was sent until now.
    pub fn received(&self) -> Vec<Received> {
        self.inbox.received.lock().map(|received| received.clone()).unwrap_or_default()
    }

    /// How much was sent until now.
    pub fn count(&self) -> usize {
        self.inbox.received.lock().map(|received| received.len()).unwrap_or_default()
    }

    /// Waits until this much was sent.
    pub async fn wait_for(&self, count: usize) {
        loop {
            let arrived = self.inbox.arrived.notified();
            if self.count() >= count {
                return;
            }
            arrived.await;
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

async fn serve(listener: TcpListener, inbox: Arc<Inbox>) {
    // Connections end with the server.
    let mut connections = JoinSet::new();
    loop {
        let Ok((stream, _)) = listener.accept().await else { continue };
        let inbox = inbox.clone();
        connections.spawn(async move {
            let service = service_fn(move |request| take(request, inbox.clone()));
            // A sender that goes away in the middle is no failure of the receiver.
            drop(http1::Builder::new().serve_connection(TokioIo::new(stream), service).await);
        });
    }
}

async fn take(request: Request<Incoming>, inbox: Arc<Inbox>) -> Result<Response<Empty<Bytes>>, Infallible> {
    let (head, body) = request.into_parts();
    let mut response = Response::new(Empty::new());
    let Ok(body) = body.collect().await else {
        *response.status_mut() = StatusCode::BAD_REQUEST;
        return Ok(response);
    };
    let received = Received { at: Instant::now(), headers: head.headers, body: body.to_bytes() };
    if let Ok(mut all) = inbox.received.lock() {
        all.push(received);
    }
    inbox.arrived.notify_waiters();
    let status = inbox.status.load(Ordering::Relaxed);
    *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    Ok(response)
}
