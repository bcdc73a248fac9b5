//! A node that does what it is told: real HTTP and WebSocket on a free port, with a made-up chain behind it.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use alloy_primitives::B256;
use bytes::Bytes;
use chainnet_chain::remote::NodeUrl;
use futures_util::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Full};
use hyper::{Request, Response, StatusCode, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{Semaphore, broadcast, watch},
};
use tokio_tungstenite::tungstenite::Message;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::ledger::{self, CHAIN_ID, Ledger};

/// How long anything may take before a test has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// Changes a result on its way out.
type Tamper = Arc<dyn Fn(&str, Value) -> Value + Send + Sync>;

/// What a node does instead of answering properly.
#[derive(Clone)]
pub(crate) enum Fault {
    /// Nothing: it answers.
    None,
    /// These bytes as the body.
    Body(Bytes),
    /// This status without a body.
    Status(StatusCode),
    /// Never answers.
    Silence,
    /// Closes the connection.
    HangUp,
    /// Results that are not what they should be.
    Tamper(Tamper),
}

pub(crate) struct Script {
    pub(crate) chain_id: u64,
    pub(crate) ledger: Ledger,
    pub(crate) head: u64,
    pub(crate) fault: Fault,
    pub(crate) has_block_receipts: bool,
    pub(crate) has_websocket: bool,
    pub(crate) has_batches: bool,
    /// What the pool says to transactions instead of taking them.
    pub(crate) pool_refusal: Option<(i64, &'static str)>,
}

struct State {
    script: Mutex<Script>,
    asked: Mutex<BTreeMap<String, usize>>,
    /// The lengths of batches.
    batches: Mutex<Vec<usize>>,
    /// Heads for those who subscribed.
    feed: watch::Sender<u64>,
    /// Cancelled to cut all WebSockets.
    sockets: Mutex<CancellationToken>,
    subscribers: watch::Sender<usize>,
    /// Hashes for those who subscribed to the pool, and how many have.
    pool: broadcast::Sender<B256>,
    pool_subscribers: watch::Sender<usize>,
    open: AtomicUsize,
    most_open: AtomicUsize,
    /// While it has no permits, block answers wait.
    gate: Semaphore,
}

/// A running node; stops when dropped.
pub(crate) struct FakeNode {
    pub(crate) address: SocketAddr,
    state: Arc<State>,
    _stop: DropGuard,
}

impl FakeNode {
    /// A node with a chain of 20 blocks of which it knows the first ones.
    pub(crate) async fn at(head: u64) -> Self {
        Self::on(TcpListener::bind("127.0.0.1:0").await.expect("a free port"), head)
    }

    pub(crate) fn on(listener: TcpListener, head: u64) -> Self {
        let address = listener.local_addr().expect("an address");
        let state = Arc::new(State {
            script: Mutex::new(Script {
                chain_id: CHAIN_ID,
                ledger: Ledger::up_to(20),
                head,
                fault: Fault::None,
                has_block_receipts: true,
                has_websocket: true,
                has_batches: true,
                pool_refusal: None,
            }),
            asked: Mutex::default(),
            batches: Mutex::default(),
            feed: watch::Sender::new(head),
            sockets: Mutex::default(),
            subscribers: watch::Sender::new(0),
            pool: broadcast::Sender::new(64),
            pool_subscribers: watch::Sender::new(0),
            open: AtomicUsize::new(0),
            most_open: AtomicUsize::new(0),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
        });
        let stop = CancellationToken::new();
        tokio::spawn(serve(listener, Arc::clone(&state), stop.clone()));
        Self { address, state, _stop: stop.drop_guard() }
    }

    pub(crate) fn url(&self) -> NodeUrl {
        format!("http://{}", self.address).parse().expect("a URL")
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.state.script.lock());
    }

    pub(crate) fn fail(&self, fault: Fault) {
        self.change(|script| script.fault = fault);
    }

    /// Results of this method come out changed.
    pub(crate) fn tamper(&self, method: &'static str, change: impl Fn(&mut Value) + Send + Sync + 'static) {
        self.fail(Fault::Tamper(Arc::new(move |asked, mut result| {
            if asked == method {
                change(&mut result);
            }
            result
        })));
    }

    /// Moves the head and tells the subscribers.
    pub(crate) fn mine_to(&self, head: u64) {
        self.change(|script| script.head = head);
        self.state.feed.send_replace(head);
    }

    pub(crate) fn asked(&self, method: &str) -> usize {
        self.state.asked.lock().get(method).copied().unwrap_or_default()
    }

    /// The lengths of the batches it was asked since this was last called.
    pub(crate) fn batches(&self) -> Vec<usize> {
        std::mem::take(&mut self.state.batches.lock())
    }

    pub(crate) fn most_connections(&self) -> usize {
        self.state.most_open.load(Ordering::SeqCst)
    }

    pub(crate) fn ledger(&self) -> Ledger {
        self.state.script.lock().ledger.clone()
    }

    pub(crate) fn cut_websockets(&self) {
        std::mem::take(&mut *self.state.sockets.lock()).cancel();
    }

    /// Waits until so many WebSockets have subscribed since the start.
    pub(crate) async fn subscribed(&self, times: usize) {
        let mut subscribers = self.state.subscribers.subscribe();
        let waited = tokio::time::timeout(PATIENCE, subscribers.wait_for(|count| *count >= times)).await;
        waited.expect("a subscription in time").expect("an open channel");
    }

    /// Tells those who subscribed to the pool of a transaction.
    pub(crate) fn pool(&self, hash: B256) {
        let _ = self.state.pool.send(hash);
    }

    /// Waits until exactly so many WebSockets are subscribed to the pool.
    pub(crate) async fn pool_subscribed(&self, times: usize) {
        let mut subscribers = self.state.pool_subscribers.subscribe();
        in_time(subscribers.wait_for(|count| *count == times)).await.expect("an open channel");
    }

    /// Lets blocks wait until [`FakeNode::release`].
    pub(crate) fn hold(&self) {
        self.state.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub(crate) fn release(&self) {
        self.state.gate.add_permits(1 << 20);
    }
}

async fn serve(listener: TcpListener, state: Arc<State>, stop: CancellationToken) {
    loop {
        let (stream, _) = tokio::select! {
            accepted = listener.accept() => accepted.expect("a connection"),
            () = stop.cancelled() => return,
        };
        let (state, stop) = (Arc::clone(&state), stop.clone());
        tokio::spawn(async move {
            let open = state.open.fetch_add(1, Ordering::SeqCst) + 1;
            state.most_open.fetch_max(open, Ordering::SeqCst);
            tokio::select! {
                () = converse(stream, &state) => {}
                () = stop.cancelled() => {}
            }
            state.open.fetch_sub(1, Ordering::SeqCst);
        });
    }
}

async fn converse(stream: TcpStream, state: &Arc<State>) {
    let mut start = [0; 3];
    while stream.peek(&mut start).await.is_ok_and(|read| (1..3).contains(&read)) {}
    let has_websocket = state.script.lock().has_websocket;
    // WebSocket begins with a GET, JSON-RPC with a POST.
    if &start == b"GET" && has_websocket {
        return feed(stream, state).await;
    }
    let answer = |request| answer(request, Arc::clone(state));
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service_fn(answer)).await;
}

async fn feed(stream: TcpStream, state: &Arc<State>) {
    let Ok(mut socket) = tokio_tungstenite::accept_async(stream).await else { return };
    let Some(Ok(Message::Text(_))) = socket.next().await else { return };
    let cut = state.sockets.lock().clone();
    let mut heads = state.feed.subscribe();
    heads.mark_unchanged();
    let _ = socket.send(Message::text(r#"{"jsonrpc":"2.0","id":0,"result":"0x1"}"#)).await;
    state.subscribers.send_modify(|count| *count += 1);
    let mut pool = state.pool.subscribe();
    let mut hears_pool = PoolSubscriber { state, is_subscribed: false };
    loop {
        let message = tokio::select! {
            () = cut.cancelled() => return,
            changed = heads.changed() => {
                if changed.is_err() {
                    return;
                }
                let head = *heads.borrow_and_update();
                news("0x1", ledger::header_json(&state.script.lock().ledger.block(head)))
            }
            Ok(hash) = pool.recv() => {
                if !hears_pool.is_subscribed {
                    continue;
                }
                news("0x2", json!(hash))
            }
            asked = socket.next() => {
                let Some(Ok(Message::Text(text))) = asked else { return };
                hears_pool.answer(&text)
            }
        };
        if socket.send(Message::text(message.to_string())).await.is_err() {
            return;
        }
    }
}

fn news(subscription: &str, result: Value) -> Value {
    json!({
        "jsonrpc": "2.0",
        "method": "eth_subscription",
        "params": { "subscription": subscription, "result": result },
    })
}

/// Whether a WebSocket is subscribed to the pool; not any more when it ends.
struct PoolSubscriber<'a> {
    state: &'a State,
    is_subscribed: bool,
}

impl PoolSubscriber<'_> {
    /// Answers a request to begin or to end it.
    fn answer(&mut self, text: &str) -> Value {
        let asked: Value = serde_json::from_str(text).expect("requests are JSON");
        let begins = asked["method"] == "eth_subscribe";
        assert_eq!(asked["params"][0], if begins { "newPendingTransactions" } else { "0x2" });
        self.set(begins);
        json!({ "jsonrpc": "2.0", "id": asked["id"], "result": if begins { json!("0x2") } else { json!(true) } })
    }

    fn set(&mut self, is_subscribed: bool) {
        if std::mem::replace(&mut self.is_subscribed, is_subscribed) != is_subscribed {
            let change = |count: &mut usize| *count = if is_subscribed { *count + 1 } else { *count - 1 };
            self.state.pool_subscribers.send_modify(change);
        }
    }
}

impl Drop for PoolSubscriber<'_> {
    fn drop(&mut self) {
        self.set(false);
    }
}

async fn answer(
    request: Request<Incoming>,
    state: Arc<State>,
) -> Result<Response<Full<Bytes>>, std::io::Error> {
    if request.method() == hyper::Method::GET {
        return Ok(with_status(StatusCode::BAD_REQUEST));
    }
    let body = request.into_body().collect().await.map_err(std::io::Error::other)?.to_bytes();
    let asked: Value = serde_json::from_slice(&body).expect("requests are JSON");
    let (fault, has_batches) = {
        let script = state.script.lock();
        (script.fault.clone(), script.has_batches)
    };
    note(&state, &asked);
    match fault {
        Fault::None | Fault::Tamper(_) => {}
        Fault::Body(body) => return Ok(Response::new(Full::new(body))),
        Fault::Status(status) => return Ok(with_status(status)),
        Fault::Silence => std::future::pending().await,
        Fault::HangUp => return Err(std::io::Error::other("hung up")),
    }
    if asked["method"] == "eth_getBlockByNumber" && asked["params"][1] == true {
        state.gate.acquire().await.expect("an open gate").forget();
    }
    let answer = match &asked {
        Value::Array(_) if !has_batches => {
            json!({ "jsonrpc": "2.0", "id": null, "error": { "code": -32600, "message": "Invalid Request" } })
        }
        Value::Array(batch) => batch.iter().map(|one| answer_one(&state, one)).collect(),
        one => answer_one(&state, one),
    };
    Ok(Response::new(Full::new(answer.to_string().into())))
}

fn with_status(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = status;
    response
}

fn note(state: &State, asked: &Value) {
    state.batches.lock().extend(asked.as_array().map(Vec::len));
    let one = std::slice::from_ref(asked);
    for asked in asked.as_array().map_or(one, Vec::as_slice) {
        let method = asked["method"].as_str().expect("a method").to_owned();
        *state.asked.lock().entry(method).or_default() += 1;
    }
}

fn answer_one(state: &State, asked: &Value) -> Value {
    let script = state.script.lock();
    let method = asked["method"].as_str().expect("a method");
    match result(&script, method, &asked["params"]) {
        Ok(result) => {
            let result = match &script.fault {
                Fault::Tamper(tamper) => tamper(method, result),
                _ => result,
            };
            json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result })
        }
        Err((code, message)) => {
            json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": code, "message": message } })
        }
    }
}

fn result(script: &Script, method: &str, params: &Value) -> Result<Value, (i64, &'static str)> {
    let known = &script.ledger.0[..=script.head as usize];
    let by_hash = |hash: &Value| known.iter().find(|(block, _)| json!(block.hash) == *hash);
    Ok(match method {
        "eth_chainId" => json!(format!("{:#x}", script.chain_id)),
        "eth_getBlockByNumber" => {
            let number = match params[0].as_str().expect("a block") {
                "latest" => Some(script.head),
                hex => u64::from_str_radix(hex.strip_prefix("0x").expect("hex numbers"), 16).ok(),
            };
            let found = number.and_then(|number| known.get(number as usize));
            found.map_or(Value::Null, |(block, _)| ledger::block_json(block))
        }
        "eth_getBlockByHash" => {
            by_hash(&params[0]).map_or(Value::Null, |(block, _)| ledger::block_json(block))
        }
        "eth_getBlockReceipts" if script.has_block_receipts => {
            let found = by_hash(&params[0]);
            found.map_or(Value::Null, |(block, receipts)| json!(ledger::receipts_json(block, receipts)))
        }
        "eth_getTransactionReceipt" => {
            let all = known.iter().flat_map(|(block, receipts)| ledger::receipts_json(block, receipts));
            all.into_iter().find(|receipt| receipt["transactionHash"] == params[0]).unwrap_or_default()
        }
        "eth_getTransactionByHash" => {
            let all = known.iter().flat_map(|(block, _)| {
                ledger::block_json(block)["transactions"].as_array().cloned().unwrap_or_default()
            });
            all.into_iter().find(|transaction| transaction["hash"] == params[0]).unwrap_or_default()
        }
        "eth_getBalance" | "eth_gasPrice" => json!("0x7"),
        "eth_getTransactionCount" => json!("0x3"),
        "eth_getCode" => json!("0x6001"),
        "eth_call" => json!("0x2a"),
        "eth_sendRawTransaction" => {
            let raw: alloy_primitives::Bytes = params[0].as_str().expect("bytes").parse().expect("hex");
            match script.pool_refusal {
                Some(refusal) => return Err(refusal),
                None => json!(alloy_primitives::keccak256(raw)),
            }
        }
        _ => return Err((-32601, "Method not found")),
    })
}

/// A free port that nobody listens on, for a node that comes later.
pub(crate) async fn unused_address() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    listener.local_addr().expect("an address")
}

/// Fails the test if something takes too long.
pub(crate) async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("done in time")
}

/// Waits until the served head is at least this high.
pub(crate) async fn head_at_least(client: &impl chainnet_chain::ChainClient, number: u64) {
    let mut heads = client.heads();
    let reached = heads.wait_for(|head| head.as_ref().is_some_and(|head| head.number() >= number));
    in_time(reached).await.expect("an open channel");
}
