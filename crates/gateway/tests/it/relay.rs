//! A node's port with somebody in between: counts connections and requests, lets a node fall behind, go silent or die.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use chain::remote::NodeUrl;
use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response, StatusCode, body::Incoming, client::conn::http1 as client,
    server::conn::http1 as server, service::service_fn,
};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, DropGuard};

/// What a node does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// It answers.
    Well,
    /// It does not know the newest blocks.
    Behind(u64),
    /// It never answers.
    Silent,
    /// It never answers this method.
    SilentTo(&'static str),
}

struct State {
    backend: SocketAddr,
    mood: Mutex<Mood>,
    asked: Mutex<BTreeMap<String, usize>>,
    open: AtomicUsize,
    most_open: AtomicUsize,
    refused: AtomicUsize,
    max_open: usize,
}

/// A port in front of a node.
pub(crate) struct Relay {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
    stop: CancellationToken,
    _guard: DropGuard,
}

impl Relay {
    pub(crate) async fn to(backend: SocketAddr) -> Self {
        Self::capped(backend, usize::MAX).await
    }

    /// A node that closes connections beyond so many.
    pub(crate) async fn capped(backend: SocketAddr, max_open: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(State {
            backend,
            mood: Mutex::new(Mood::Well),
            asked: Mutex::default(),
            open: AtomicUsize::new(0),
            most_open: AtomicUsize::new(0),
            refused: AtomicUsize::new(0),
            max_open,
        });
        let stop = CancellationToken::new();
        tokio::spawn(accept(listener, Arc::clone(&state), stop.clone()));
        Self { address, state, _guard: stop.clone().drop_guard(), stop }
    }

    pub(crate) fn url(&self) -> NodeUrl {
        format!("http://{}", self.address).parse().unwrap()
    }

    pub(crate) fn set(&self, mood: Mood) {
        *self.state.mood.lock() = mood;
    }

    /// Cuts every connection and refuses new ones.
    pub(crate) fn kill(&self) {
        self.stop.cancel();
    }

    /// The methods that arrived, and how often.
    pub(crate) fn asked(&self) -> BTreeMap<String, usize> {
        self.state.asked.lock().clone()
    }

    pub(crate) fn count(&self, method: &str) -> usize {
        self.asked().get(method).copied().unwrap_or_default()
    }

    pub(crate) fn most_connections(&self) -> usize {
        self.state.most_open.load(Ordering::SeqCst)
    }

    pub(crate) fn refused_connections(&self) -> usize {
        self.state.refused.load(Ordering::SeqCst)
    }
}

async fn accept(listener: TcpListener, state: Arc<State>, stop: CancellationToken) {
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted.unwrap(),
            () = stop.cancelled() => return,
        };
        let open = state.open.fetch_add(1, Ordering::SeqCst) + 1;
        if open > state.max_open {
            state.open.fetch_sub(1, Ordering::SeqCst);
            state.refused.fetch_add(1, Ordering::SeqCst);
            continue;
        }
        state.most_open.fetch_max(open, Ordering::SeqCst);
        let (state, stop) = (Arc::clone(&state), stop.clone());
        tokio::spawn(async move {
            let _ = stop.run_until_cancelled(converse(stream, &state)).await;
            state.open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

async fn converse(stream: TcpStream, state: &Arc<State>) {
    let backend = TcpStream::connect(state.backend).await.unwrap();
    let (sender, connection) = client::handshake(TokioIo::new(backend)).await.unwrap();
    tokio::spawn(connection);
    let sender = Arc::new(tokio::sync::Mutex::new(sender));
    let service = service_fn(|request| answer(request, Arc::clone(&sender), Arc::clone(state)));
    let _ = server::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

type Sender = Arc<tokio::sync::Mutex<client::SendRequest<Full<Bytes>>>>;

async fn answer(
    request: Request<Incoming>,
    backend: Sender,
    state: Arc<State>,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    if request.method() == hyper::Method::GET {
        // No WebSocket: the head is asked for.
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::BAD_REQUEST;
        return Ok(response);
    }
    let body = request.into_body().collect().await?.to_bytes();
    let asked: Value = serde_json::from_slice(&body).expect("requests are JSON");
    let one = std::slice::from_ref(&asked);
    for asked in asked.as_array().map_or(one, Vec::as_slice) {
        let method = asked["method"].as_str().expect("a method").to_owned();
        *state.asked.lock().entry(method).or_default() += 1;
    }
    let mood = *state.mood.lock();
    match mood {
        Mood::Well => pass_on(&backend, body).await,
        Mood::SilentTo(method) if asked["method"] != method => pass_on(&backend, body).await,
        Mood::Silent | Mood::SilentTo(_) => std::future::pending().await,
        Mood::Behind(blocks) => behind(&backend, asked, blocks).await,
    }
}

async fn pass_on(backend: &Sender, body: Bytes) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let request = Request::post("/").header("host", "localhost").body(Full::new(body)).unwrap();
    let mut backend = backend.lock().await;
    backend.ready().await?;
    let (parts, body) = backend.send_request(request).await?.into_parts();
    let body = body.collect().await?.to_bytes();
    let mut response = Response::new(Full::new(body));
    *response.status_mut() = parts.status;
    Ok(response)
}

/// Answers as a node that has not seen the last blocks.
async fn behind(
    backend: &Sender,
    mut asked: Value,
    blocks: u64,
) -> Result<Response<Full<Bytes>>, hyper::Error> {
    let question = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": [] });
    let told = pass_on(backend, question.to_string().into()).await?.into_body().collect().await.unwrap();
    let told: Value = serde_json::from_slice(&told.to_bytes()).unwrap();
    let head = crate::front::number(&told["result"]).saturating_sub(blocks);
    let params = asked["params"].as_array().cloned().unwrap_or_default();
    let is_newer = |param: &Value| {
        // Longer texts are addresses and hashes.
        let text = param.as_str().filter(|text| text.len() < 20);
        let number = text.and_then(|text| u64::from_str_radix(text.strip_prefix("0x")?, 16).ok());
        number.is_some_and(|number| number > head)
    };
    if params.iter().any(is_newer) {
        let answer = json!({
            "jsonrpc": "2.0", "id": asked["id"],
            "error": { "code": -32000, "message": "Block not found" },
        });
        return Ok(Response::new(Full::new(answer.to_string().into())));
    }
    if let Some(first) = asked["params"].get_mut(0).filter(|first| **first == "latest") {
        *first = json!(format!("{head:#x}"));
    }
    pass_on(backend, asked.to_string().into()).await
}
