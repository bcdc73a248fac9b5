//! Conversations over a real socket, byte for byte.

use std::{future, net::IpAddr, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    task::JoinHandle,
};
use tokio_util::sync::CancellationToken;

use crate::{
    BodyError, Bounds, Budget, Handler, Headers, Manners, Pieces, Request, Response, Server, StatusCode,
    Step, Switched, converse,
};

/// Answers with what it was asked.
struct Echo {
    manners: Manners,
    budget: Budget<()>,
    /// Told when somebody begins or stops to wait for an answer that never comes.
    waiting: mpsc::UnboundedSender<bool>,
}

struct Waiting<'a>(&'a mpsc::UnboundedSender<bool>);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let _ = self.0.send(false);
    }
}

impl Handler for Echo {
    type Caller = String;
    type Socket = ();
    type Party = ();

    fn receive(&self, request: &Request<'_, '_>) -> Step<String, ()> {
        match (request.method, request.path()) {
            ("GET", "/socket") => Step::Switch(Response::new(StatusCode::SWITCHING_PROTOCOLS, ""), ()),
            ("GET" | "HEAD", "/") => Step::Answer(Response::new(StatusCode::OK, "hello").with("x-a", 7)),
            ("POST", "/nobody") => Step::Answer(Response::new(StatusCode::UNAUTHORIZED, "no")),
            ("POST", path) => Step::Read(path.to_owned()),
            _ => Step::Answer(
                Response::new(StatusCode::NOT_FOUND, "").with("x-host", request.lines("host").count() as u64),
            ),
        }
    }

    fn account(&self, _: &String) -> (&Budget<()>, ()) {
        (&self.budget, ())
    }

    async fn answer(&self, path: String, body: &[u8]) -> Response {
        if path == "/never" {
            let _ = self.waiting.send(true);
            let _waiting = Waiting(&self.waiting);
            future::pending::<()>().await;
        }
        let mut pieces = Pieces::with_capacity(16);
        pieces.own().push(b'<');
        pieces.share(body.to_vec().into());
        pieces.own().push(b'>');
        Response::new(StatusCode::OK, pieces)
    }

    fn refuse_body(&self, _: String, error: BodyError) -> Response {
        let status = match error {
            BodyError::TooLong(_) => StatusCode::PAYLOAD_TOO_LARGE,
            BodyError::Broken => StatusCode::BAD_REQUEST,
            BodyError::NoRoom(_) => StatusCode::TOO_MANY_REQUESTS,
        };
        Response::new(status, "")
    }
}

impl Server for Echo {
    const FULL: &'static [u8] = b"";

    async fn serve(self: Arc<Self>, stream: TcpStream, _: IpAddr, stop: CancellationToken) {
        if let Some(Switched { mut stream, early, socket: () }) =
            converse(stream, &*self, &self.manners, &stop).await
        {
            stream.write_all(&early).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    }
}

struct Rig {
    listening: std::net::SocketAddr,
    stop: CancellationToken,
    serving: JoinHandle<std::io::Result<()>>,
    waiting: mpsc::UnboundedReceiver<bool>,
}

const LONG: Duration = Duration::from_secs(60);

async fn start(max_body_bytes: usize, transfer_timeout: Duration, idle_timeout: Duration) -> Rig {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let listening = listener.local_addr().unwrap();
    let stop = CancellationToken::new();
    let (told, waiting) = mpsc::unbounded_channel();
    let manners = Manners { max_body_bytes, transfer_timeout, idle_timeout };
    let echo = Echo { manners, budget: Budget::per_party(2 << 20), waiting: told };
    let bounds = Bounds { connections: 100, drain: LONG };
    let serving = tokio::spawn(crate::serve("echo", listener, Arc::new(echo), bounds, stop.clone()));
    Rig { listening, stop, serving, waiting }
}

async fn usual() -> Rig {
    start(1 << 20, LONG, LONG).await
}

/// Answers without their dates, which differ.
fn undated(answers: &[u8]) -> String {
    let text = String::from_utf8(answers.to_vec()).unwrap();
    text.split_inclusive("\r\n").filter(|line| !line.starts_with("date: ")).collect()
}

impl Rig {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.listening).await.unwrap()
    }

    /// Everything that is answered to these bytes, sent in pieces of this length, until the server closes.
    async fn say(&self, bytes: &[u8], piece: usize) -> String {
        let (mut read, mut write) = self.connect().await.into_split();
        let mut answers = Vec::new();
        let say = async {
            for piece in bytes.chunks(piece) {
                // The server may have heard enough.
                if write.write_all(piece).await.is_err() {
                    break;
                }
                tokio::task::yield_now().await;
            }
        };
        let (_, heard) = tokio::join!(say, read.read_to_end(&mut answers));
        heard.unwrap();
        undated(&answers)
    }
}

fn ok(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

fn last(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
}

#[tokio::test]
async fn requests_are_answered_in_order_however_they_arrive() {
    let rig = usual().await;
    let requests = b"POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\none\
        POST /b HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\ntw\r\n1\r\no\r\n0\r\nTrailer: x\r\n\r\n\
        \r\nPOST /c HTTP/1.1\r\nHost: a\r\n\r\n\
        POST /d HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfour";
    let expected = [ok("<one>"), ok("<two>"), ok("<>"), last("<four>")].concat();
    for piece in [1, 2, 7, 40, requests.len()] {
        assert_eq!(rig.say(requests, piece).await, expected, "in pieces of {piece}");
    }
}

#[tokio::test]
async fn a_long_body_comes_back_whole() {
    let rig = usual().await;
    for length in [8 * 1024, 16 * 1024 - 2, 16 * 1024, 1 << 20] {
        let body = "x".repeat(length);
        let request = format!(
            "POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let answer = rig.say(request.as_bytes(), request.len()).await;
        assert!(answer == last(&format!("<{body}>")), "of {length} bytes came back {}", answer.len());
    }
}

#[tokio::test]
async fn a_client_that_waits_for_a_word_gets_it() {
    let rig = usual().await;
    let mut stream = rig.connect().await;
    stream
        .write_all(
            b"POST / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n",
        )
        .await
        .unwrap();
    let mut word = [0; 25];
    stream.read_exact(&mut word).await.unwrap();
    assert_eq!(&word, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(b"hi").await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert_eq!(undated(&answer), last("<hi>"));
}

#[tokio::test]
async fn a_body_that_is_too_long_is_refused_however_it_is_announced() {
    let rig = start(10, LONG, LONG).await;
    let refused = "HTTP/1.1 413 Payload Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let long = "x".repeat(100_000);
    for request in [
        format!("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: {}\r\n\r\n{long}", long.len()),
        format!(
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{long}\r\n0\r\n\r\n",
            long.len()
        ),
        "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n".to_owned(),
    ] {
        assert_eq!(rig.say(request.as_bytes(), 4096).await, refused);
    }
}

#[tokio::test]
async fn nothing_is_read_behind_what_is_no_request() {
    let rig = usual().await;
    let second = "POST /second HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    for (first, status) in [
        ("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "400 Bad Request"),
        (
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n0\r\n\r\n",
            "400 Bad Request",
        ),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", "400 Bad Request"),
        ("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "400 Bad Request"),
        ("POST / HTTP/1.1\r\nHost: a\r\nA : b\r\n\r\n", "400 Bad Request"),
        ("GET /socket HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", "400 Bad Request"),
        ("\x16\x03\x01", "400 Bad Request"),
        // The body of a refused request is not taken for the next one.
        ("POST /nobody HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n", "401 Unauthorized"),
        ("POST /nobody HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n", "401 Unauthorized"),
    ] {
        let answers = rig.say(format!("{first}{second}").as_bytes(), 1 << 20).await;
        assert!(answers.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{first}: {answers}");
        assert!(answers.contains("\r\nconnection: close\r\n"), "{first}: {answers}");
        assert_eq!(
            answers.matches("HTTP/1.1").count() - answers.matches("Not an HTTP/1.1").count(),
            1,
            "{first}: {answers}"
        );
    }
    let many = format!("GET / HTTP/1.1\r\nHost: a\r\n{}\r\n", "a: b\r\n".repeat(65));
    assert!(
        rig.say(many.as_bytes(), 1 << 20)
            .await
            .starts_with("HTTP/1.1 431 Request Header Fields Too Large\r\n")
    );
}

#[tokio::test]
async fn a_refused_request_whose_body_is_here_keeps_its_connection() {
    let rig = usual().await;
    let requests =
        b"POST /nobody HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabcGET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    let expected = "HTTP/1.1 401 Unauthorized\r\ncontent-length: 2\r\n\r\nno\
        HTTP/1.1 200 OK\r\nx-a: 7\r\ncontent-length: 5\r\nconnection: close\r\n\r\nhello";
    assert_eq!(rig.say(requests, 1 << 20).await, expected);
}

#[tokio::test]
async fn an_old_client_is_told_whether_its_connection_stays() {
    let rig = usual().await;
    let requests = b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\nHEAD / HTTP/1.0\r\n\r\n";
    let expected = "HTTP/1.1 200 OK\r\nx-a: 7\r\ncontent-length: 5\r\nconnection: keep-alive\r\n\r\nhello\
        HTTP/1.1 200 OK\r\nx-a: 7\r\ncontent-length: 5\r\nconnection: close\r\n\r\n";
    assert_eq!(rig.say(requests, 1 << 20).await, expected);
}

#[tokio::test]
async fn what_comes_after_a_switch_is_not_http() {
    let rig = usual().await;
    let answer = rig.say(b"GET /socket HTTP/1.1\r\nHost: a\r\nUpgrade: x\r\n\r\nearly", 1 << 20).await;
    assert_eq!(answer, "HTTP/1.1 101 Switching Protocols\r\n\r\nearly");
}

#[tokio::test]
async fn nobody_works_for_a_client_that_has_left() {
    let mut rig = usual().await;
    let mut stream = rig.connect().await;
    stream.write_all(b"POST /never HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    assert_eq!(rig.waiting.recv().await, Some(true));
    drop(stream);
    assert_eq!(rig.waiting.recv().await, Some(false));
}

#[tokio::test]
async fn clients_that_keep_us_waiting_are_given_up() {
    let rig = start(1 << 20, Duration::from_millis(40), Duration::from_millis(40)).await;
    for beginning in ["", "POST / HT", "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nab"] {
        assert_eq!(rig.say(beginning.as_bytes(), 100).await, "", "{beginning}");
    }
}

#[tokio::test]
async fn at_the_end_requests_that_have_begun_are_answered_and_idle_connections_closed() {
    let rig = usual().await;
    let (mut idle, mut begun) = (rig.connect().await, rig.connect().await);
    idle.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    begun
        .write_all(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n")
        .await
        .unwrap();
    // Both are being served: one answer begins, and the other's body is asked for.
    idle.read_exact(&mut [0; 9]).await.unwrap();
    begun.read_exact(&mut [0; 25]).await.unwrap();
    rig.stop.cancel();
    let mut rest = Vec::new();
    idle.read_to_end(&mut rest).await.unwrap();
    assert!(undated(&rest).ends_with("hello"));
    begun.write_all(b"abcde").await.unwrap();
    let mut answer = Vec::new();
    begun.read_to_end(&mut answer).await.unwrap();
    assert_eq!(undated(&answer), last("<abcde>"));
    drop((idle, begun));
    rig.serving.await.unwrap().unwrap();
}
