//! What callers have under way that they do not read, or do not finish: bytes are bounded, and nobody else has to wait for them.

use std::{
    future,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use chain::{Head, NodeState, PendingHashes, RawCall, RawError, RawUpstream};
use futures_util::future::select_all;
use jsonrpc::Answer;
use serde_json::json;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpSocket, TcpStream},
    sync::{Semaphore, watch},
};
use tokio_tungstenite::tungstenite::{
    Message,
    protocol::frame::{
        Frame,
        coding::{Data, OpCode},
    },
};

use crate::{
    front::{Front, open, request},
    peer::Peer,
    world::{World, in_time},
};

const MIB: usize = 1024 * 1024;
/// What one caller may have under way, by default.
const PER_CALLER: usize = 64 * MIB;
/// Far more than the machine keeps for a connection that does not read.
const LONG: usize = 12 * MIB;
/// Sooner than a slow connection is given up.
const SOON: Duration = Duration::from_secs(8);

/// A node whose calls have long results, and whose gas price comes when it is told to.
struct Wordy {
    inner: Arc<dyn RawUpstream>,
    called: AtomicUsize,
    /// Bytes of results that somebody still has.
    held: Arc<AtomicUsize>,
    /// Gas prices that are being asked for.
    pricing: AtomicUsize,
    gate: Semaphore,
}

struct Held(Vec<u8>, Arc<AtomicUsize>);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.1.fetch_sub(self.0.len(), Ordering::SeqCst);
    }
}

struct Counted<'a>(&'a AtomicUsize);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Wordy {
    fn over(inner: Arc<dyn RawUpstream>) -> Arc<Self> {
        let (called, held, pricing) = Default::default();
        Arc::new(Self { inner, called, held, pricing, gate: Semaphore::new(0) })
    }

    fn long(&self) -> Bytes {
        let text = format!("\"0x{}\"", "0".repeat(LONG)).into_bytes();
        self.held.fetch_add(text.len(), Ordering::SeqCst);
        Bytes::from_owner(Held(text, Arc::clone(&self.held)))
    }

    fn held(&self) -> usize {
        self.held.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl RawUpstream for Wordy {
    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        self.inner.heads()
    }

    async fn pending(&self) -> PendingHashes {
        self.inner.pending().await
    }

    fn chain_id(&self) -> Option<u64> {
        self.inner.chain_id()
    }

    async fn call(&self, call: RawCall) -> Result<Answer, RawError> {
        match call.method {
            "eth_call" => {
                self.called.fetch_add(1, Ordering::SeqCst);
                Ok(Answer::Result(self.long()))
            }
            "eth_estimateGas" => Ok(Answer::Error(Bytes::from(format!(
                r#"{{"code":3,"message":"execution reverted","data":"0x{}"}}"#,
                "0".repeat(LONG)
            )))),
            "eth_gasPrice" => {
                self.pricing.fetch_add(1, Ordering::SeqCst);
                let _counted = Counted(&self.pricing);
                self.gate.acquire().await.unwrap().forget();
                self.inner.call(call).await
            }
            _ => self.inner.call(call).await,
        }
    }

    fn nodes(&self) -> Vec<NodeState> {
        self.inner.nodes()
    }
}

/// A call that is answered by nothing that is kept.
fn long_call(number: usize) -> String {
    let to = format!("0x{number:040x}");
    request(number as u64, "eth_call", json!([{ "to": to }, "pending"]))
}

fn post(body: &str) -> String {
    format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// A connection whose machine takes little at a time.
async fn narrow(address: SocketAddr) -> TcpStream {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_recv_buffer_size(4096).unwrap();
    socket.connect(address).await.unwrap()
}

async fn until(what: &str, is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::task::yield_now().await
        }
    };
    assert!(tokio::time::timeout(SOON, waiting).await.is_ok(), "{what}");
}

/// The beginning of what arrives.
async fn first_bytes(stream: &mut TcpStream, count: usize) -> String {
    let mut bytes = vec![0; count];
    in_time(stream.read_exact(&mut bytes)).await.unwrap();
    String::from_utf8(bytes).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_nobody_reads_are_bounded_and_given_back() {
    let world = World::new();
    let wordy = Wordy::over(world.in_process());
    let front = Front::new(open(), wordy.clone()).await;
    let mut streams = Vec::new();
    for number in 0..20 {
        let mut stream = narrow(front.address).await;
        stream.write_all(post(&long_call(number)).as_bytes()).await.unwrap();
        // The answer has begun, and the rest of it waits.
        let status = first_bytes(&mut stream, 12).await;
        let expected = if (number + 1) * (LONG + 64) > PER_CALLER { "HTTP/1.1 429" } else { "HTTP/1.1 200" };
        assert_eq!(status, expected, "{number}, with {} MiB under way", wordy.held() / MIB);
        streams.push(stream);
    }
    assert!(wordy.held() <= PER_CALLER, "{} MiB", wordy.held() / MIB);
    // Short answers are still given.
    assert_eq!(front.ask("eth_chainId", json!([])).await, "0x228d");
    let refused = front.post(long_call(77)).await;
    assert_eq!(refused.refusal(), (429, -32005, "rate_limited".to_owned()));
    let data = &refused.json()["error"]["data"];
    assert_eq!((&data["scope"], &data["limit"]), (&json!("bytes"), &json!(PER_CALLER)));
    assert_eq!(refused.header("retry-after"), Some("1"));
    drop(streams);
    until("everything is given back", || wordy.held() == 0).await;
    assert_eq!(front.post(long_call(78)).await.status.as_u16(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_batch_has_collected_is_counted_before_it_is_whole() {
    let world = World::new();
    let wordy = Wordy::over(world.in_process());
    let front = Front::new(open(), wordy.clone()).await;
    let mut streams = Vec::new();
    for number in 0..8 {
        let mut stream = narrow(front.address).await;
        let slow = request(7, "eth_gasPrice", json!([]));
        let batch = format!("[{},{},{slow}]", long_call(2 * number), long_call(2 * number + 1));
        stream.write_all(post(&batch).as_bytes()).await.unwrap();
        streams.push(stream);
    }
    until("all are asked for", || wordy.called.load(Ordering::SeqCst) == 16).await;
    until("what is too much is dropped", || wordy.held() <= PER_CALLER).await;
    drop(streams);
    until("everything is given back", || wordy.held() == 0).await;
}

#[tokio::test]
async fn bodies_that_do_not_arrive_are_bounded() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    let mut streams = Vec::new();
    let most = PER_CALLER / MIB;
    for number in 0..most + 6 {
        let mut stream = TcpStream::connect(front.address).await.unwrap();
        let head =
            format!("POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: {MIB}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let expected = if number < most { "HTTP/1.1 100" } else { "HTTP/1.1 429" };
        assert_eq!(first_bytes(&mut stream, 12).await, expected, "{number}");
        streams.push(stream);
    }
    assert_eq!(front.ask("eth_chainId", json!([])).await, "0x228d");
    drop(streams);
    let body = format!("{}{}", request(1, "eth_chainId", json!([])), " ".repeat(MIB / 2));
    let mut status = 429;
    let asking = async {
        while status == 429 {
            status = front.post(body.clone()).await.status.as_u16();
        }
    };
    in_time(asking).await;
    assert_eq!(status, 200);
}

#[tokio::test]
async fn messages_that_do_not_end_are_bounded() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    let mut peers = Vec::new();
    for _ in 0..PER_CALLER / MIB * 2 + 10 {
        let mut peer = Peer::open(front.address).await;
        let begun = Frame::message(vec![b' '; MIB / 2], OpCode::Data(Data::Text), false);
        peer.send(Message::Frame(begun)).await;
        peers.push(peer);
    }
    let goodbyes = peers.iter_mut().map(|peer| Box::pin(peer.goodbye()));
    let ((code, reason), ..) = tokio::time::timeout(SOON, select_all(goodbyes)).await.expect("one is closed");
    assert_eq!((code, reason.as_str()), (1013, "too much at once: ask again later"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_that_sockets_do_not_read_are_bounded() {
    let world = World::new();
    let wordy = Wordy::over(world.in_process());
    let front = Front::new(open(), wordy.clone()).await;
    let mut peers = Vec::new();
    for number in 0..4 {
        let mut peer = Peer::narrow(front.address).await;
        for message in 0..5 {
            peer.send(Message::text(long_call(10 * number + message))).await;
        }
        peers.push(peer);
    }
    until("all are asked for", || wordy.called.load(Ordering::SeqCst) == 20).await;
    until("what is too much is dropped", || wordy.held() <= PER_CALLER).await;
    drop(peers);
    until("everything is given back", || wordy.held() == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_that_does_not_read_gives_its_places_back_when_the_node_has_answered() {
    let world = World::new();
    let wordy = Wordy::over(world.in_process());
    let front = Front::new(open(), wordy.clone()).await;
    let mut peer = Peer::narrow(front.address).await;
    peer.send(Message::text(request(1, "eth_gasPrice", json!([])))).await;
    until("the price is asked for", || wordy.pricing.load(Ordering::SeqCst) == 1).await;
    peer.send(Message::text(long_call(2))).await;
    // The long answer is on its way, and nobody takes it.
    in_time(peer.readable()).await;
    wordy.gate.add_permits(1);
    until("the price's place is given back", || wordy.pricing.load(Ordering::SeqCst) == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_takes_nothing_of_its_answer_is_closed_soon() {
    let world = World::new();
    let wordy = Wordy::over(world.in_process());
    let mut config = open();
    config.limits.transfer_timeout = Duration::from_millis(300);
    let front = Front::new(config, wordy.clone()).await;
    let mut stream = narrow(front.address).await;
    stream.write_all(post(&long_call(1)).as_bytes()).await.unwrap();
    in_time(stream.readable()).await.unwrap();
    until("the answer is dropped", || wordy.called.load(Ordering::SeqCst) == 1 && wordy.held() == 0).await;
    let mut peer = Peer::narrow(front.address).await;
    peer.send(Message::text(long_call(2))).await;
    until("and so on a socket", || wordy.called.load(Ordering::SeqCst) == 2 && wordy.held() == 0).await;
    drop(peer);
    future::ready(()).await;
}

#[tokio::test]
async fn long_errors_of_nodes_come_back_whole() {
    let world = World::new();
    let front = Front::new(open(), Wordy::over(world.in_process())).await;
    let reply = front.call("eth_estimateGas", json!([{ "to": format!("0x{:040x}", 1) }])).await;
    let error = &reply.json()["error"];
    assert_eq!((&error["code"], error["data"].as_str().map(str::len)), (&json!(3), Some(LONG + 2)));
}
