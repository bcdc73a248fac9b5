//! A node under callers who ask for much and do not wait for it.

use std::{fs, time::Duration};

use serde_json::{Value, json};
use testkit::NodeProcess;
use tokio::{
    io::AsyncWriteExt,
    net::TcpStream,
    time::{Instant, sleep, timeout},
};

use crate::rig::{assert_calm, ctl, node};

/// Longer than anything takes that does not wait for the calls below.
const PATIENCE: Duration = Duration::from_secs(20);
const CALLERS: usize = 60;

/// Has the precompile 9 work in a loop until all gas is gone, a second or two: each call a creation.
const BLAKE_LOOP: &str = "0x63000f424060e01b5f525b604061010060d55f60095afa50600a56";

fn threads(node: &NodeProcess) -> usize {
    fs::read_dir(format!("/proc/{}/task", node.server().pid())).expect("its threads").count()
}

/// Processor time that the node has used, in ticks.
fn used(node: &NodeProcess) -> u64 {
    let stat = fs::read_to_string(format!("/proc/{}/stat", node.server().pid())).expect("its figures");
    let (_, figures) = stat.rsplit_once(')').expect("a name");
    let figures: Vec<u64> = figures.split_whitespace().map(|word| word.parse().unwrap_or_default()).collect();
    figures[11] + figures[12]
}

/// Asks and does not wait for the answer.
async fn ask(node: &NodeProcess, method: &str, params: Value) -> TcpStream {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    let mut stream = TcpStream::connect(node.server().address()).await.expect("a connection");
    let head = format!("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).await.expect("a request");
    stream
}

/// Four threads work for callers, however many come and go, and none of them goes on for those who went.
#[tokio::test]
async fn calls_of_callers_who_left_take_no_threads_and_no_time() {
    let node = node(["--on-demand"]).await;
    let before = threads(&node);
    for _ in 0..CALLERS {
        let left = ask(&node, "eth_call", json!([{ "data": BLAKE_LOOP }])).await;
        // Answered behind the call before it: that one has been taken up.
        let head: String = node.client().call("eth_blockNumber", json!([])).await.expect("a number");
        assert_eq!(head, "0x0");
        drop(left);
    }
    let most = threads(&node);
    assert!(most <= before + 8, "{most} threads after {before}");

    // What is asked now does not wait behind what nobody wants any more.
    let answered = node.client().call::<String>("eth_call", json!([{ "data": "0x602a60005260206000f3" }]));
    timeout(PATIENCE, answered).await.expect("in time").expect("an answer");
    let deadline = Instant::now() + PATIENCE;
    loop {
        let earlier = used(&node);
        sleep(Duration::from_millis(300)).await;
        if used(&node) <= earlier + 5 {
            break;
        }
        assert!(Instant::now() < deadline, "it works on, for nobody");
    }
    assert_calm(&node);
}

/// The way in for operators is open while callers have the node busy, and no page has it.
#[tokio::test]
async fn validators_are_stopped_by_programs_and_not_by_pages() {
    let node = node(["--on-demand"]).await;
    let mut busy = Vec::new();
    for _ in 0..16 {
        busy.push(ask(&node, "eth_call", json!([{ "data": BLAKE_LOOP }])).await);
    }
    ctl(&node, ["stop", "V3"]).await.success();
    let status = ctl(&node, ["status"]).await.success();
    assert!(status.lines().any(|line| line.starts_with("V3") && line.contains("stopped")), "{status}");
    let mut page = TcpStream::connect(node.server().address()).await.expect("a connection");
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"chainnet_startValidator","params":["V3"]}"#;
    let head = format!(
        "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: https://evil.example\r\nContent-Type: text/plain\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    );
    page.write_all(format!("{head}{body}").as_bytes()).await.expect("a request");
    page.readable().await.expect("an answer");
    let status = ctl(&node, ["status"]).await.success();
    assert!(status.lines().any(|line| line.starts_with("V3") && line.contains("stopped")), "{status}");
    assert_calm(&node);
}
