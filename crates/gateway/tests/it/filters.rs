//! Filters: polled over HTTP and WebSocket alike, and never a node's.

use std::time::Duration;

use serde_json::{Value, json};

use crate::{
    dev::{Dev, Port, remote},
    front::{Front, keyed, number, open, request},
    peer::Peer,
};

async fn install(peer: &mut Peer, method: &str, params: Value) -> Value {
    let id = peer.result(method, params).await;
    assert!(id.as_str().is_some_and(|id| id.starts_with("0x")), "{id}");
    id
}

async fn changes(peer: &mut Peer, id: &Value) -> Vec<Value> {
    peer.result("eth_getFilterChanges", json!([id])).await.as_array().expect("a list").clone()
}

#[tokio::test]
async fn a_block_filter_tells_of_each_block_once() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    dev.mine().await;
    peer.at_head(dev.head()).await;
    let id = install(&mut peer, "eth_newBlockFilter", json!([])).await;
    assert!(changes(&mut peer, &id).await.is_empty());
    let mut mined = Vec::new();
    for _ in 0..3 {
        dev.mine().await;
        mined.push(json!(dev.chain.head().block.hash));
    }
    peer.at_head(dev.head()).await;
    assert_eq!(changes(&mut peer, &id).await, mined);
    assert!(changes(&mut peer, &id).await.is_empty());
}

#[tokio::test]
async fn a_log_filter_tells_what_get_logs_finds() {
    let dev = Dev::start();
    let port = Port::open(&dev).await;
    let front = Front::new(open(), remote(&[&port]).await).await;
    let emitters = dev.deploy_emitters().await;
    let mut peer = Peer::open(front.address).await;
    peer.at_head(dev.head()).await;
    let wanted = json!({ "address": [emitters[1], emitters[2]] });
    let id = install(&mut peer, "eth_newFilter", json!([wanted])).await;
    let first = dev.head() + 1;
    for block in 0..3u8 {
        let topics = [alloy_primitives::B256::repeat_byte(block); 4];
        emitters.iter().for_each(|emitter| {
            dev.emit(*emitter, &topics);
        });
        dev.mine().await;
    }
    peer.at_head(dev.head()).await;
    let mut range = wanted.clone();
    range["fromBlock"] = json!(format!("{first:#x}"));
    let expected = peer.result("eth_getLogs", json!([range])).await;
    assert_eq!(json!(changes(&mut peer, &id).await), expected);
    assert_eq!(expected.as_array().map(Vec::len), Some(6));
    assert!(changes(&mut peer, &id).await.is_empty());
    // All logs of the filter's own blocks: only the head, as none were named.
    let of_head = peer.result("eth_getFilterLogs", json!([id])).await;
    assert_eq!(of_head, peer.result("eth_getLogs", json!([wanted])).await);
    assert_eq!(of_head.as_array().map(Vec::len), Some(2));
    port.kill().await;
}

#[tokio::test]
async fn a_log_filter_keeps_to_its_blocks() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let emitters = dev.deploy_emitters().await;
    let mut peer = Peer::open(front.address).await;
    peer.at_head(dev.head()).await;
    let first = dev.head() + 1;
    let range = json!({ "fromBlock": format!("{:#x}", first + 1), "toBlock": format!("{:#x}", first + 2) });
    let id = install(&mut peer, "eth_newFilter", json!([range])).await;
    for _ in 0..4 {
        dev.emit(emitters[0], &[]);
        dev.mine().await;
    }
    peer.at_head(dev.head()).await;
    let numbers: Vec<_> =
        changes(&mut peer, &id).await.iter().map(|log| number(&log["blockNumber"])).collect();
    assert_eq!(numbers, [first + 1, first + 2]);
}

#[tokio::test]
async fn a_pending_filter_tells_of_each_transaction_once() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    let id = install(&mut peer, "eth_newPendingTransactionFilter", json!([])).await;
    for _ in 0..2 {
        let sent: Vec<_> = (0..3).map(|_| json!(dev.pay())).collect();
        let mut found = Vec::new();
        while found.len() < sent.len() {
            found.extend(changes(&mut peer, &id).await);
        }
        assert_eq!(found, sent);
    }
}

#[tokio::test]
async fn filters_work_over_http_and_belong_to_their_caller() {
    let dev = Dev::start();
    let front = Front::new(keyed(), dev.in_process()).await;
    let (mine, other) = (front.issue(|_| {}).await, front.issue(|_| {}).await);
    let ask = async |key: &str, method: &str, params: Value| {
        front.post_with("/", &[("x-api-key", key)], request(1, method, params)).await.json()
    };
    let id = ask(&mine, "eth_newBlockFilter", json!([])).await["result"].clone();
    for method in ["eth_getFilterChanges", "eth_getFilterLogs"] {
        let refused = ask(&other, method, json!([id])).await;
        assert_eq!(refused["error"]["code"], -32000);
        assert_eq!(refused["error"]["message"], "Filter not found");
    }
    assert_eq!(ask(&other, "eth_uninstallFilter", json!([id])).await["result"], false);
    assert_eq!(ask(&mine, "eth_getFilterChanges", json!([id])).await["result"], json!([]));
    assert_eq!(ask(&mine, "eth_uninstallFilter", json!([id])).await["result"], true);
    assert_eq!(ask(&mine, "eth_uninstallFilter", json!([id])).await["result"], false);
    assert_eq!(ask(&mine, "eth_getFilterChanges", json!([id])).await["error"]["code"], -32000);
}

#[tokio::test]
async fn what_is_no_filter_is_refused() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    for (method, params, code) in [
        ("eth_getFilterChanges", json!(["0x1"]), -32000),
        ("eth_getFilterChanges", json!(["nonsense"]), -32000),
        ("eth_getFilterChanges", json!([]), -32602),
        ("eth_getFilterChanges", json!([7]), -32602),
        ("eth_newFilter", json!([7]), -32602),
        ("eth_newFilter", json!([{ "address": "0x1" }]), -32602),
        ("eth_newFilter", json!([{ "blockHash": alloy_primitives::B256::ZERO }]), -32602),
        ("eth_newFilter", json!({ "address": [] }), -32602),
    ] {
        assert_eq!(peer.ask(method, params.clone()).await["error"]["code"], code, "{method} {params}");
    }
}

#[tokio::test]
async fn filters_are_bounded_per_caller() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    for _ in 0..64 {
        install(&mut peer, "eth_newBlockFilter", json!([])).await;
    }
    let refused = peer.ask("eth_newBlockFilter", json!([])).await;
    assert_eq!(
        (&refused["error"]["code"], &refused["error"]["data"]["reason"]),
        (&json!(-32005), &json!("too_many_filters"))
    );
}

#[tokio::test]
async fn a_filter_that_nobody_polls_is_forgotten() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    let id = install(&mut peer, "eth_newBlockFilter", json!([])).await;
    for _ in 0..3 {
        front.clock.advance(Duration::from_secs(4 * 60));
        assert!(changes(&mut peer, &id).await.is_empty());
    }
    front.clock.advance(Duration::from_secs(5 * 60));
    assert_eq!(peer.ask("eth_getFilterChanges", json!([id])).await["error"]["code"], -32000);
}
