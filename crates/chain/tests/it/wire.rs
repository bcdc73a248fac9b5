//! Answers as they come over the wire: every framing of HTTP/1.1, in pieces, and connections that end without a word.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use chainnet_chain::{
    Lane, RawCall, RawError, RawUpstream,
    remote::{RemoteClient, RemoteConfig},
};
use futures_util::future::join_all;
use jsonrpc::Answer;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use crate::fake::in_time;

/// How a node writes its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Length,
    Chunks,
    /// Byte by byte, after an interim answer.
    Drops,
    /// Without a length, until the connection is closed.
    UntilClosed,
    /// Closes the connection after each answer without saying so.
    Leaving,
    /// Something after the answer.
    Chatty,
    /// The answer ends before its length.
    Short,
    /// Each answer once more, when the next request is in.
    Twice,
    /// Takes a request on a connection that was used before, and closes it without a word.
    Forgetful,
}

/// A node that knows nothing but how to write answers, for all who ask it.
struct WireNode {
    url: String,
    /// Connections that were opened, and the most that were open at once.
    opened: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

impl WireNode {
    async fn start(style: Style) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (opened, most, open) = <(Arc<AtomicUsize>, Arc<AtomicUsize>, Arc<AtomicUsize>)>::default();
        let node = Self { url, opened: opened.clone(), most: most.clone() };
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (opened, most, open) = (opened.clone(), most.clone(), open.clone());
                tokio::spawn(async move {
                    opened.fetch_add(1, Ordering::SeqCst);
                    most.fetch_max(open.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    let _ = converse(stream, style).await;
                    open.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        node
    }

    async fn client(&self, max_connections: usize) -> Arc<RemoteClient> {
        let config = RemoteConfig {
            max_connections,
            poll_interval: Duration::from_secs(3600),
            failures_before_pause: 1000,
            ..RemoteConfig::default()
        };
        Arc::new(RemoteClient::connect(&[self.url.parse().unwrap()], config).await.unwrap())
    }
}

/// Reads a request; nothing if the caller has left or wants something else than JSON-RPC.
async fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
        let text = String::from_utf8(bytes.clone()).ok()?;
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: "))?;
        if body.len() == length.parse::<usize>().ok()? {
            return Some(body.to_owned());
        }
    }
}

/// The answer to one request, which says what was asked.
fn answer_to(request: &Value) -> Value {
    let result = match request["method"].as_str() {
        Some("eth_chainId") => json!("0x228d"),
        Some("eth_getBalance") => request["params"][0].clone(),
        Some("eth_sendRawTransaction") => {
            let error = json!({ "code": -32000, "message": "Known transaction" });
            return json!({ "jsonrpc": "2.0", "id": request["id"], "error": error });
        }
        _ => json!("0x7"),
    };
    json!({ "jsonrpc": "2.0", "id": request["id"], "result": result })
}

fn with_length(body: &str) -> String {
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len())
}

async fn converse(mut stream: TcpStream, style: Style) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut last: Option<String> = None;
    while let Some(request) = read_request(&mut stream).await {
        let body = match serde_json::from_str(&request).unwrap() {
            Value::Array(requests) => requests.iter().map(answer_to).collect(),
            one => answer_to(&one),
        };
        let body = body.to_string();
        let length = body.len();
        let whole = with_length(&body);
        match style {
            // The chain's id is told properly, so that the node is asked at all.
            Style::Short if !request.contains("eth_chainId") => {
                stream.write_all(whole.trim_end_matches('}').as_bytes()).await?;
                return Ok(());
            }
            Style::Forgetful if last.is_some() => return Ok(()),
            Style::Length | Style::Short | Style::Forgetful => stream.write_all(whole.as_bytes()).await?,
            Style::Twice => {
                let again = last.unwrap_or_default();
                stream.write_all(format!("{again}{whole}").as_bytes()).await?;
            }
            Style::Chunks => {
                stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").await?;
                let (one, two) = body.split_at(length / 2);
                for chunk in [one, two] {
                    stream.write_all(format!("{:x};x=y\r\n{chunk}\r\n", chunk.len()).as_bytes()).await?;
                }
                stream.write_all(b"0\r\nx-end: yes\r\n\r\n").await?;
            }
            Style::Drops => {
                for byte in format!("HTTP/1.1 100 Continue\r\n\r\n{whole}").as_bytes() {
                    stream.write_all(&[*byte]).await?;
                    tokio::task::yield_now().await;
                }
            }
            Style::UntilClosed => {
                stream.write_all(format!("HTTP/1.0 200 OK\r\n\r\n{body}").as_bytes()).await?;
                return Ok(());
            }
            Style::Leaving => {
                stream.write_all(whole.as_bytes()).await?;
                return Ok(());
            }
            Style::Chatty => stream.write_all(format!("{whole}by the way").as_bytes()).await?,
        }
        last = Some(whole);
    }
    Ok(())
}

fn balance(number: u64, lane: Lane) -> RawCall {
    RawCall { method: "eth_getBalance", params: format!("[\"{number:#x}\"]").into(), lane, at: 0 }
}

#[tokio::test]
async fn a_second_answer_that_comes_late_is_nobodys() {
    let node = WireNode::start(Style::Twice).await;
    let client = node.client(4).await;
    for number in 0..10 {
        let answer = in_time(client.call(balance(number, Lane::Cheap))).await;
        assert_eq!(answer, Ok(Answer::Result(format!("\"{number:#x}\"").into())), "one by one");
    }
    for round in 1..10u64 {
        let numbers = 100 * round..100 * round + 5;
        let calls = numbers.clone().map(|number| client.call(balance(number, Lane::Small)));
        let answers = in_time(join_all(calls)).await;
        let expected: Vec<_> =
            numbers.map(|number| Ok(Answer::Result(format!("\"{number:#x}\"").into()))).collect();
        assert_eq!(answers, expected, "together");
    }
}

#[tokio::test]
async fn a_transaction_that_was_sent_again_and_is_known_was_taken() {
    let node = WireNode::start(Style::Forgetful).await;
    let client = node.client(4).await;
    let transaction = || RawCall {
        method: "eth_sendRawTransaction",
        params: "[\"0x01\"]".into(),
        lane: Lane::Write,
        at: 0,
    };
    let hash = alloy_primitives::keccak256([1]);
    // So that a connection is kept.
    in_time(client.call(gas_price())).await.unwrap();
    assert_eq!(in_time(client.call(transaction())).await, Ok(Answer::Result(format!("\"{hash}\"").into())));
}

fn gas_price() -> RawCall {
    RawCall { method: "eth_gasPrice", params: "[]".into(), lane: Lane::Cheap, at: 0 }
}

#[tokio::test]
async fn an_answer_is_read_however_it_is_written() {
    for style in
        [Style::Length, Style::Chunks, Style::Drops, Style::UntilClosed, Style::Leaving, Style::Chatty]
    {
        let node = WireNode::start(style).await;
        let client = node.client(4).await;
        for _ in 0..5 {
            let answer = in_time(client.call(gas_price())).await;
            assert_eq!(answer, Ok(Answer::Result("\"0x7\"".into())), "{style:?}");
        }
    }
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_none_and_is_not_asked_for_twice() {
    let node = WireNode::start(Style::Short).await;
    let client = node.client(4).await;
    assert_eq!(in_time(client.call(gas_price())).await, Err(RawError::Unavailable));
}

#[tokio::test]
async fn a_connection_is_used_again_unless_something_was_left_on_it() {
    let (good, chatty) = (WireNode::start(Style::Length).await, WireNode::start(Style::Chatty).await);
    let mut opened = Vec::new();
    for node in [&good, &chatty] {
        let client = node.client(4).await;
        let before = node.opened.load(Ordering::SeqCst);
        for _ in 0..10 {
            in_time(client.call(gas_price())).await.unwrap();
        }
        opened.push(node.opened.load(Ordering::SeqCst) - before);
    }
    // The feed of heads opens one now and then.
    assert!(opened[0] <= 2 && opened[1] >= 10, "{opened:?}");
}

/// Each runtime has connections of its own as long as there may be more; then it takes those of others.
#[tokio::test(flavor = "multi_thread")]
async fn runtimes_together_keep_to_the_bound() {
    let node = WireNode::start(Style::Length).await;
    let client = node.client(2).await;
    let threads: Vec<_> = (0..5)
        .map(|_| {
            let client = client.clone();
            std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                runtime.block_on(async {
                    for _ in 0..20 {
                        in_time(client.call(gas_price())).await.unwrap();
                    }
                });
            })
        })
        .collect();
    tokio::task::spawn_blocking(|| threads.into_iter().for_each(|thread| thread.join().unwrap()))
        .await
        .unwrap();
    // The feed has a connection of its own.
    assert!(node.most.load(Ordering::SeqCst) <= 3, "{:?}", node.most);
}
