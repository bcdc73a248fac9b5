//! Logs, filters and subscriptions.

use std::time::Duration;

use alloy_primitives::B256;
use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::{WebSocketStream, client_async, tungstenite::Message};

use super::{ANSWER, LOG, Rig};
use crate::rpc::{Limits, RpcConfig};

#[tokio::test]
async fn logs_are_found_by_range_hash_address_and_topic() {
    let rig = Rig::start().await;
    let hash = rig.send(0, LOG, &[1]).await;
    rig.mine().await;
    rig.mine().await;
    let one = B256::with_last_byte(1);
    let block = rig.chain.store().hash_of(1).unwrap().unwrap();
    for (filter, found) in [
        (json!({ "fromBlock": "earliest", "toBlock": "latest" }), 1),
        (json!({ "fromBlock": "0x1", "toBlock": "0x1" }), 1),
        (json!({}), 0),
        (json!({ "blockHash": block }), 1),
        (json!({ "fromBlock": "0x0", "address": LOG }), 1),
        (json!({ "fromBlock": "0x0", "address": [ANSWER] }), 0),
        (json!({ "fromBlock": "0x0", "topics": [one] }), 1),
        (json!({ "fromBlock": "0x0", "topics": [[B256::ZERO, one]] }), 1),
        (json!({ "fromBlock": "0x0", "topics": [null] }), 1),
        (json!({ "fromBlock": "0x0", "topics": [B256::ZERO] }), 0),
    ] {
        let logs = rig.get("eth_getLogs", json!([filter])).await;
        let logs = logs.as_array().unwrap();
        assert_eq!(logs.len(), found, "{filter}");
        for log in logs {
            assert_eq!(log["transactionHash"], hash);
            assert_eq!(log["blockHash"], json!(block));
            assert_eq!(log["removed"], false);
        }
    }
}

#[tokio::test]
async fn long_searches_find_the_same() {
    let rig = Rig::start().await;
    rig.send(0, LOG, &[1]).await;
    rig.get("evm_mine", json!([{ "blocks": 20 }])).await;
    let logs = rig.get("eth_getLogs", json!([{ "fromBlock": "0x0", "toBlock": "latest" }])).await;
    assert_eq!(logs.as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn filters_give_what_came_since_the_last_poll() {
    let rig = Rig::start().await;
    let logs = rig.get("eth_newFilter", json!([{ "address": LOG, "fromBlock": "0x0" }])).await;
    let blocks = rig.get("eth_newBlockFilter", json!([])).await;
    let pending = rig.get("eth_newPendingTransactionFilter", json!([])).await;
    let hash = rig.send(0, LOG, &[1]).await;
    // The transaction reaches the filter through the chain's events, so poll until it is there.
    let mut hashes = json!([]);
    while hashes == json!([]) {
        hashes = rig.get("eth_getFilterChanges", json!([pending])).await;
    }
    assert_eq!(hashes, json!([hash]));
    rig.mine().await;
    let block = rig.chain.head().block.hash;
    assert_eq!(rig.get("eth_getFilterChanges", json!([blocks])).await, json!([block]));
    assert_eq!(rig.get("eth_getFilterChanges", json!([logs])).await.as_array().unwrap().len(), 1);
    for filter in [&logs, &blocks, &pending] {
        assert_eq!(rig.get("eth_getFilterChanges", json!([filter])).await, json!([]));
    }
    assert_eq!(rig.get("eth_getFilterLogs", json!([logs])).await.as_array().unwrap().len(), 1);
    assert_eq!(rig.get("eth_uninstallFilter", json!([logs])).await, true);
    assert_eq!(rig.get("eth_uninstallFilter", json!([logs])).await, false);
    assert_eq!(rig.fail("eth_getFilterLogs", json!([logs])).await.1, "Filter not found");
}

#[tokio::test]
async fn filters_expire_when_nobody_polls() {
    let limits = Limits { filter_timeout: Duration::ZERO, max_filters: 1, ..Limits::default() };
    let rig = Rig::start_with(RpcConfig { limits, ..RpcConfig::default() }).await;
    let filter = rig.get("eth_newBlockFilter", json!([])).await;
    assert_eq!(rig.fail("eth_getFilterChanges", json!([filter])).await.1, "Filter not found");
    rig.get("eth_newBlockFilter", json!([])).await;
    rig.get("eth_newBlockFilter", json!([])).await;
}

#[tokio::test]
async fn filters_survive_a_chain_that_went_back() {
    let rig = Rig::start().await;
    let id = rig.get("evm_snapshot", json!([])).await;
    rig.mine().await;
    rig.mine().await;
    let blocks = rig.get("eth_newBlockFilter", json!([])).await;
    rig.get("evm_revert", json!([id])).await;
    assert_eq!(rig.get("eth_getFilterChanges", json!([blocks])).await, json!([]));
    rig.mine().await;
    assert_eq!(rig.get("eth_getFilterChanges", json!([blocks])).await.as_array().unwrap().len(), 1);
}

async fn open(rig: &Rig) -> WebSocketStream<TcpStream> {
    client_async("ws://localhost/", TcpStream::connect(rig.address).await.unwrap()).await.unwrap().0
}

async fn ask(socket: &mut WebSocketStream<TcpStream>, method: &str, params: Value) -> Value {
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    socket.send(Message::text(request.to_string())).await.unwrap();
    next(socket).await
}

async fn next(socket: &mut WebSocketStream<TcpStream>) -> Value {
    loop {
        match socket.next().await.unwrap().unwrap() {
            Message::Text(text) => return serde_json::from_str(&text).unwrap(),
            Message::Ping(_) => {}
            other => panic!("{other:?} instead of text"),
        }
    }
}

async fn event(socket: &mut WebSocketStream<TcpStream>) -> (Value, Value) {
    let mut event = next(socket).await;
    assert_eq!(event["method"], "eth_subscription");
    (event["params"]["subscription"].take(), event["params"]["result"].take())
}

#[tokio::test]
async fn heads_logs_and_transactions_are_pushed() {
    let rig = Rig::start().await;
    let mut socket = open(&rig).await;
    let heads = ask(&mut socket, "eth_subscribe", json!(["newHeads"])).await["result"].take();
    let full = ask(&mut socket, "eth_subscribe", json!(["newHeads", { "includeTransactions": true }])).await;
    let full = full["result"].clone();
    let logs = ask(&mut socket, "eth_subscribe", json!(["logs", { "address": LOG }])).await["result"].take();
    let none = ask(&mut socket, "eth_subscribe", json!(["logs", { "address": ANSWER }])).await;
    assert!(none["result"].is_string());
    let syncing = ask(&mut socket, "eth_subscribe", json!(["syncing"])).await;
    assert!(syncing["result"].is_string());
    let pending = ask(&mut socket, "eth_subscribe", json!(["newPendingTransactions"])).await["result"].take();
    let whole = ask(&mut socket, "eth_subscribe", json!(["newPendingTransactions", true])).await;
    let whole = whole["result"].clone();

    let hash = rig.send(0, LOG, &[9]).await;
    assert_eq!(event(&mut socket).await, (pending, hash.clone()));
    let (id, transaction) = event(&mut socket).await;
    assert_eq!((id, &transaction["hash"]), (whole, &hash));

    rig.mine().await;
    let block = rig.get("eth_getBlockByNumber", json!(["latest", true])).await;
    let (id, head) = event(&mut socket).await;
    assert_eq!((id, &head["hash"]), (heads.clone(), &block["hash"]));
    assert!(head.get("transactions").is_none());
    assert_eq!(event(&mut socket).await, (full.clone(), block));
    let (id, log) = event(&mut socket).await;
    assert_eq!((id, &log["data"]), (logs, &json!("0x09")));

    assert_eq!(ask(&mut socket, "eth_unsubscribe", json!([full])).await["result"], true);
    assert_eq!(
        ask(&mut socket, "eth_unsubscribe", json!([full])).await["error"]["message"],
        "Subscription not found"
    );
    rig.mine().await;
    assert_eq!(event(&mut socket).await.0, heads);
}

#[tokio::test]
async fn a_bad_subscription_is_an_invalid_request() {
    let rig = Rig::start().await;
    let mut socket = open(&rig).await;
    for params in [json!([]), json!(["nothing"]), json!(["logs", 7]), json!({})] {
        assert_eq!(ask(&mut socket, "eth_subscribe", params).await["error"]["code"], -32600);
    }
    let bad = ask(&mut socket, "eth_unsubscribe", json!(["x"])).await;
    assert_eq!(bad["error"]["message"], "Invalid subscription ID params");
}
