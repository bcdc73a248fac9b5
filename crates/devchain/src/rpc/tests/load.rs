//! Calls that would take for ever: nobody waits because of them, and they end with whoever asked.

use std::time::Duration;

use alloy_primitives::hex;
use serde_json::{Value, json};
use tokio::{io::AsyncWriteExt, net::TcpStream, time::timeout};

use super::{BLAKE, LOOP, Rig};
use crate::rpc::{Limits, RpcConfig};

/// Long enough for whatever takes no time, on however busy a machine.
const PATIENCE: Duration = Duration::from_secs(8);
/// Gas that lasts for days.
const ENDLESS: u64 = 1_000_000_000_000_000;

async fn endless() -> Rig {
    let limits = Limits { call_gas_cap: ENDLESS, ..Limits::default() };
    Rig::start_with(RpcConfig { limits, ..RpcConfig::default() }).await
}

/// Asks on a connection of its own and does not wait for the answer.
async fn ask(rig: &Rig, method: &str, params: Value) -> TcpStream {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string();
    ask_with(rig, &body).await
}

async fn ask_with(rig: &Rig, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(rig.address).await.unwrap();
    let head = format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    stream
}

/// Calls of a kind, each with another function, so that none looks like one that was slow before.
fn calls(to: alloy_primitives::Address) -> impl Iterator<Item = Value> {
    (0u32..).map(move |n| json!({ "to": to, "input": hex::encode_prefixed(n.to_be_bytes()) }))
}

async fn answers_at_once(rig: &Rig) {
    for _ in 0..4 {
        let number = timeout(PATIENCE, rig.get("eth_blockNumber", json!([]))).await;
        assert_eq!(number.expect("an answer while others are busy"), "0x0");
    }
}

#[tokio::test]
async fn endless_calls_do_not_hold_up_other_connections() {
    for method in ["eth_call", "eth_estimateGas", "eth_createAccessList", "debug_traceCall"] {
        for contract in [BLAKE, LOOP] {
            let rig = endless().await;
            let mut open = Vec::new();
            for call in calls(contract).take(8) {
                open.push(ask(&rig, method, json!([call, "latest", {}])).await);
            }
            for call in calls(contract).take(8) {
                open.push(ask(&rig, method, json!([call])).await);
            }
            answers_at_once(&rig).await;
        }
    }
}

#[tokio::test]
async fn a_batch_of_endless_calls_does_not_hold_up_other_connections() {
    let rig = endless().await;
    let batch: Vec<Value> = calls(BLAKE)
        .take(50)
        .map(|call| json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_call", "params": [call] }))
        .collect();
    let mut open = Vec::new();
    for _ in 0..8 {
        open.push(ask_with(&rig, &json!(batch).to_string()).await);
    }
    answers_at_once(&rig).await;
}

/// A precompile runs in one piece: what it would use is known before.
#[tokio::test]
async fn one_long_precompile_does_not_hold_up_other_connections() {
    let rig = Rig::start().await;
    let blake2f = |rounds: u32| {
        let mut input = rounds.to_be_bytes().to_vec();
        input.resize(213, 0);
        json!([{ "to": "0x0000000000000000000000000000000000000009", "input": hex::encode_prefixed(input) }])
    };
    let mut open = Vec::new();
    for _ in 0..32 {
        open.push(ask(&rig, "eth_call", blake2f(45_000_000)).await);
    }
    answers_at_once(&rig).await;
    drop(open);
    // One that is too long for here but not for a worker has its answer.
    let output = rig.get("eth_call", blake2f(600_000)).await;
    assert_eq!(output.as_str().map(str::len), Some(2 + 128), "{output}");
}
