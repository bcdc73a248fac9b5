//! Connections as clients have them: real sockets, small bounds.

use std::{
    net::Ipv4Addr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use http_body_util::{BodyExt, Full, StreamBody, combinators::BoxBody};
use hyper::body::Frame;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpSocket,
};

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);
const GET: &[u8] = b"GET / HTTP/1.1\r\nhost: x\r\n\r\n";
const ONE: Ipv4Addr = Ipv4Addr::LOCALHOST;
const ANOTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

type TestBody = BoxBody<Bytes, std::convert::Infallible>;

/// A server and what tells how many bodies of it are being sent.
struct Server {
    address: SocketAddr,
    sending: Arc<AtomicUsize>,
    _stop: tokio_util::sync::DropGuard,
}

/// Counts as being sent until it is dropped.
struct Sending(Arc<AtomicUsize>);

impl Drop for Sending {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// `/` is short, `/endless` has no end, and `/never` does not begin.
async fn start(limits: ConnectionLimits) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), CancellationToken::new());
    let sending = Arc::new(AtomicUsize::new(0));
    let answer = {
        let sending = sending.clone();
        move |_: IpAddr, request: Request<Incoming>| {
            let sending = sending.clone();
            async move {
                if request.uri().path() == "/never" {
                    sending.fetch_add(1, Ordering::SeqCst);
                    std::future::pending::<()>().await;
                }
                Response::new(body(request.uri().path(), sending))
            }
        }
    };
    tokio::spawn(serve_with(listener, answer, limits, stop.clone()));
    Server { address, sending, _stop: stop.drop_guard() }
}

fn body(path: &str, sending: Arc<AtomicUsize>) -> TestBody {
    if path != "/endless" {
        return Full::new(Bytes::from_static(b"hello")).boxed();
    }
    sending.fetch_add(1, Ordering::SeqCst);
    let guard = Sending(sending);
    let endless = futures_util::stream::repeat_with(move || {
        let _ = &guard;
        Ok(Frame::data(Bytes::from_static(&[b'x'; 8192])))
    });
    StreamBody::new(endless).boxed()
}

impl Server {
    async fn connect(&self, from: Ipv4Addr) -> TcpStream {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind((from, 0).into()).unwrap();
        socket.connect(self.address).await.unwrap()
    }

    /// A connection that has been answered, and what it was told.
    async fn ask(&self, from: Ipv4Addr) -> (TcpStream, String) {
        let mut stream = self.connect(from).await;
        let _ = stream.write_all(GET).await;
        let mut told = vec![0; 2048];
        let length = tokio::time::timeout(PATIENCE, stream.read(&mut told)).await.unwrap().unwrap_or(0);
        told.truncate(length);
        (stream, String::from_utf8(told).unwrap())
    }

    /// Asks until it is served.
    async fn served(&self, from: Ipv4Addr) -> TcpStream {
        let serving = async {
            loop {
                let (stream, told) = self.ask(from).await;
                if told.starts_with("HTTP/1.1 200") {
                    return stream;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, serving).await.expect("served in time")
    }

    async fn sends(&self, count: usize) {
        let waiting = async {
            while self.sending.load(Ordering::SeqCst) != count {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, waiting).await.expect("as many answers under way in time");
    }
}

#[tokio::test]
async fn one_client_does_not_take_all_connections() {
    let server = start(ConnectionLimits { per_client: 3, ..ConnectionLimits::default() }).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        open.push(server.served(ONE).await);
    }
    let (_, told) = server.ask(ONE).await;
    assert!(told.starts_with("HTTP/1.1 503"), "{told}");
    assert!(told.contains("\r\nRetry-After: 1\r\n") && told.contains("\"too_many_connections\""), "{told}");
    let (_, body) = told.split_once("\r\n\r\n").unwrap();
    assert!(told.contains(&format!("\r\nContent-Length: {}\r\n", body.len())), "{told}");
    server.served(ANOTHER).await;
    drop(open.pop());
    server.served(ONE).await;
}

#[tokio::test]
async fn all_connections_are_bounded_and_who_finds_no_room_is_told() {
    let server = start(ConnectionLimits { connections: 2, ..ConnectionLimits::default() }).await;
    let _open = [server.served(ONE).await, server.served(ONE).await];
    assert!(server.ask(ANOTHER).await.1.starts_with("HTTP/1.1 503"));
}

#[tokio::test]
async fn a_trusted_proxy_may_have_many_connections() {
    let trusted_proxies = vec!["127.0.0.0/30".parse().unwrap()];
    let server =
        start(ConnectionLimits { per_client: 1, trusted_proxies, ..ConnectionLimits::default() }).await;
    let _open = [server.served(ONE).await, server.served(ONE).await, server.served(ONE).await];
}

#[tokio::test]
async fn an_answer_that_is_not_read_is_given_up() {
    let write_time_limit = Duration::from_millis(300);
    let server = start(ConnectionLimits { write_time_limit, ..ConnectionLimits::default() }).await;
    let mut unread = server.connect(ONE).await;
    unread.write_all(b"GET /endless HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    server.sends(1).await;
    server.sends(0).await;
}

#[tokio::test]
async fn an_answer_that_is_read_goes_on() {
    let write_time_limit = Duration::from_millis(300);
    let server = start(ConnectionLimits { write_time_limit, ..ConnectionLimits::default() }).await;
    let mut reader = server.connect(ONE).await;
    reader.write_all(b"GET /endless HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut bytes = vec![0; 64 * 1024];
    // Longer than the time limit, and slower than it is sent.
    let begin = tokio::time::Instant::now();
    while begin.elapsed() < 4 * write_time_limit {
        reader.read_exact(&mut bytes).await.expect("the answer goes on");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    server.sends(1).await;
}

#[tokio::test]
async fn a_head_that_does_not_come_ends_the_connection() {
    let head_time_limit = Duration::from_millis(200);
    let server = start(ConnectionLimits { head_time_limit, ..ConnectionLimits::default() }).await;
    for begun in [&b""[..], b"GET / HTTP/1.1\r\nhost:"] {
        let mut stream = server.connect(ONE).await;
        stream.write_all(begun).await.unwrap();
        let mut rest = Vec::new();
        tokio::time::timeout(PATIENCE, stream.read_to_end(&mut rest)).await.expect("an end in time").unwrap();
    }
    // Between two requests, too.
    let mut idle = server.served(ONE).await;
    let mut rest = Vec::new();
    tokio::time::timeout(PATIENCE, idle.read_to_end(&mut rest)).await.expect("an end in time").unwrap();
}

#[tokio::test]
async fn so_many_requests_of_a_client_are_answered_at_a_time() {
    let server = start(ConnectionLimits::default()).await;
    let mut waiting = Vec::new();
    for _ in 0..admission::MAX_CONCURRENT_REQUESTS {
        let mut stream = server.connect(ONE).await;
        stream.write_all(b"GET /never HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        waiting.push(stream);
    }
    server.sends(admission::MAX_CONCURRENT_REQUESTS).await;
    let mut late = server.connect(ONE).await;
    late.write_all(GET).await.unwrap();
    // Somebody else is answered meanwhile, and the late one when a turn has come to its end.
    server.served(ANOTHER).await;
    assert_eq!(late.try_read(&mut [0]).unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
    waiting.pop();
    tokio::time::timeout(PATIENCE, late.read_u8()).await.expect("in time").unwrap();
}
