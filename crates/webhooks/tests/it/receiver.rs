//! A merchant's server: does what a test tells it, and remembers what it got.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::stream;
use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::{
    HeaderMap, Request, Response, StatusCode,
    body::{Frame, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use tokio::{
    io::AsyncWriteExt,
    net::TcpListener,
    sync::{Notify, Semaphore},
    task::JoinHandle,
};

/// What a receiver does with a request.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Status(u16),
    Header(u16, &'static str, String),
    /// Nothing, until the connection is closed by the other side.
    Hang,
    /// Nothing, until the test opens the gate.
    Gate,
    /// A status and so many bytes.
    Body(u16, usize),
    /// A status at once and a body that never ends.
    Trickle(u16),
}

/// What a receiver got.
#[derive(Debug, Clone)]
pub(crate) struct Got {
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) path: String,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> String {
        self.headers.get(name).map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
    }
}

pub(crate) struct Shared {
    pub(crate) got: Mutex<Vec<Got>>,
    script: Mutex<VecDeque<Reply>>,
    usual: Mutex<Reply>,
    gate: Semaphore,
    under_way: AtomicUsize,
    most_under_way: AtomicUsize,
    connections: AtomicUsize,
    arrived: Notify,
}

/// A running receiver; gone when dropped.
pub(crate) struct Receiver {
    pub(crate) address: SocketAddr,
    pub(crate) shared: Arc<Shared>,
    task: JoinHandle<()>,
}

impl Receiver {
    /// A receiver that does this with every request.
    pub(crate) async fn start(usual: Reply) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            got: Mutex::default(),
            script: Mutex::default(),
            usual: Mutex::new(usual),
            gate: Semaphore::new(0),
            under_way: AtomicUsize::new(0),
            most_under_way: AtomicUsize::new(0),
            connections: AtomicUsize::new(0),
            arrived: Notify::new(),
        });
        let task = tokio::spawn(serve(listener, Arc::clone(&shared)));
        Self { address, shared, task }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/hook", self.address)
    }

    /// The next requests get these, before all others get the usual.
    pub(crate) fn script(&self, replies: impl IntoIterator<Item = Reply>) {
        self.shared.script.lock().extend(replies);
    }

    pub(crate) fn usually(&self, reply: Reply) {
        *self.shared.usual.lock() = reply;
    }

    /// Lets so many gated requests go.
    pub(crate) fn open_gate(&self, requests: usize) {
        self.shared.gate.add_permits(requests);
    }

    pub(crate) fn count(&self) -> usize {
        self.shared.got.lock().len()
    }

    pub(crate) fn got(&self) -> Vec<Got> {
        self.shared.got.lock().clone()
    }

    pub(crate) fn most_under_way(&self) -> usize {
        self.shared.most_under_way.load(Ordering::SeqCst)
    }

    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Waits until so many requests have arrived.
    pub(crate) async fn received(&self, count: usize) -> Vec<Got> {
        let waiting = async {
            loop {
                let arrived = self.shared.arrived.notified();
                if self.count() >= count {
                    return self.got();
                }
                // A notification between the two is not lost for long.
                let _ = tokio::time::timeout(Duration::from_millis(50), arrived).await;
            }
        };
        let waited = tokio::time::timeout(crate::rig::PATIENCE, waiting).await;
        waited.unwrap_or_else(|_| panic!("{} of {count} requests arrived", self.count()))
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Body = BoxBody<Bytes, std::convert::Infallible>;

async fn serve(listener: TcpListener, shared: Arc<Shared>) {
    loop {
        let Ok((stream, _)) = listener.accept().await else { return };
        shared.connections.fetch_add(1, Ordering::SeqCst);
        stream.set_nodelay(true).unwrap();
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(Arc::clone(&shared), request));
            let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

/// Counts a request as under way, also when its connection is dropped.
struct UnderWay(Arc<Shared>);

impl UnderWay {
    fn begin(shared: Arc<Shared>) -> Self {
        let now = shared.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        shared.most_under_way.fetch_max(now, Ordering::SeqCst);
        Self(shared)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

async fn answer(shared: Arc<Shared>, request: Request<Incoming>) -> Result<Response<Body>, hyper::Error> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await?.to_bytes();
    let under_way = UnderWay::begin(Arc::clone(&shared));
    let path = parts.uri.path().to_owned();
    shared.got.lock().push(Got { headers: parts.headers, body, path });
    shared.arrived.notify_waiters();
    let scripted = shared.script.lock().pop_front();
    let reply = scripted.unwrap_or_else(|| shared.usual.lock().clone());
    if let Reply::Gate = reply {
        shared.gate.acquire().await.unwrap().forget();
    }
    if let Reply::Hang = reply {
        std::future::pending::<()>().await;
    }
    drop(under_way);
    Ok(respond(reply))
}

fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).boxed()
}

fn respond(reply: Reply) -> Response<Body> {
    let status = |status: u16| StatusCode::from_u16(status).unwrap();
    let mut response = Response::new(full("thanks"));
    match reply {
        Reply::Status(code) => *response.status_mut() = status(code),
        Reply::Header(code, name, value) => {
            *response.status_mut() = status(code);
            response.headers_mut().insert(name, value.parse().unwrap());
        }
        Reply::Body(code, bytes) => {
            *response.status_mut() = status(code);
            *response.body_mut() = full(vec![b'x'; bytes]);
        }
        Reply::Trickle(code) => {
            *response.status_mut() = status(code);
            let first = stream::iter([Ok(Frame::data(Bytes::from_static(b"wait for it")))]);
            let endless = futures_util::StreamExt::chain(first, stream::pending());
            *response.body_mut() = BoxBody::new(StreamBody::new(endless));
        }
        Reply::Gate => {}
        Reply::Hang => unreachable!("it never answers"),
    }
    response
}

/// Takes connections and resets each after some bytes; answers where.
pub(crate) async fn resetting() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ = stream.write_all(b"HTTP/1.1 200 ").await;
            // Unread bytes make closing a reset.
            drop(stream);
        }
    });
    address
}
