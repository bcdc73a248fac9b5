//! Requests over a WebSocket: the same answers, limits and refusals as over HTTP.

use std::{collections::BTreeSet, sync::Arc};

use chain::remote::{RemoteClient, RemoteConfig};
use chainnet_gateway::{Door, GatewayConfig, method_entries};
use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Bytes, Message};

use crate::{
    dev::{Dev, Port},
    front::{Front, open, request},
    peer::Peer,
    relay::Relay,
    smuggling::{cases, outcome},
};

#[tokio::test]
async fn requests_and_batches_are_answered_and_notifications_are_not() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    peer.send(Message::text(r#"{"jsonrpc":"2.0","method":"eth_blockNumber"}"#)).await;
    assert_eq!(
        peer.ask("eth_chainId", json!([])).await,
        json!({ "jsonrpc": "2.0", "id": 1, "result": "0x228d" })
    );
    let batch = r#"[{"jsonrpc":"2.0","id":"a","method":"eth_blockNumber"},{"jsonrpc":"2.0","method":"eth_chainId"},
        {"jsonrpc":"2.0","id":null,"method":"debug_traceTransaction"},7]"#;
    peer.send(Message::text(batch)).await;
    let answers = peer.answer().await;
    assert_eq!(answers[0], json!({ "jsonrpc": "2.0", "id": "a", "result": "0x0" }));
    assert_eq!((&answers[1]["id"], &answers[1]["error"]["code"]), (&Value::Null, &json!(-32601)));
    assert_eq!(answers[2]["error"]["code"], -32600);
    assert_eq!(answers.as_array().map(Vec::len), Some(3));
    peer.send(Message::text("nope")).await;
    assert_eq!(peer.answer().await["error"]["code"], -32700);
}

#[tokio::test]
async fn binary_messages_are_as_good_as_text() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    let request = br#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}"#;
    peer.send(Message::Binary(Bytes::from_static(request))).await;
    assert_eq!(peer.answer().await["result"], "0x228d");
    peer.send(Message::Binary(Bytes::from_static(b"\xff\xfe"))).await;
    assert_eq!(peer.answer().await["error"]["code"], -32700);
}

#[tokio::test]
async fn messages_are_answered_side_by_side() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    // Far more than are answered at a time: the rest waits and is not lost.
    for id in 0..200 {
        peer.send(Message::text(request(id, "eth_getBlockByNumber", json!(["latest", true])))).await;
    }
    let mut ids = Vec::new();
    for _ in 0..200 {
        ids.push(peer.answer().await["id"].as_u64().expect("an id"));
    }
    ids.sort_unstable();
    assert_eq!(ids, (0..200).collect::<Vec<_>>());
}

#[tokio::test]
async fn long_answers_arrive_whole() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let loud = dev.deploy_loud(20_000).await;
    (0..5).for_each(|_| {
        dev.emit(loud, &[]);
    });
    let number = dev.mine().await;
    let mut peer = Peer::open(front.address).await;
    peer.at_head(number).await;
    let logs = peer.result("eth_getLogs", json!([{ "fromBlock": format!("{number:#x}") }])).await;
    let data = logs.as_array().expect("a list").iter().map(|log| log["data"].as_str().expect("data").len());
    assert_eq!(data.collect::<Vec<_>>(), [40_002; 5]);
}

#[tokio::test]
async fn no_disguise_gets_a_forbidden_method_to_a_node() {
    let dev = Dev::start();
    dev.mine().await;
    let port = Port::open(&dev).await;
    let relay = Relay::to(port.address).await;
    let remote = RemoteClient::connect(&[relay.url()], RemoteConfig::default()).await.unwrap();
    let front = Front::new(open(), Arc::new(remote)).await;
    let mut peer = Peer::open(front.address).await;
    for case in cases() {
        let bytes = case.bytes();
        let message = match std::str::from_utf8(&bytes) {
            Ok(text) => Message::text(text),
            // Text that is none would close the socket before anybody reads it.
            Err(_) => Message::Binary(bytes),
        };
        peer.send(message).await;
        let answer = peer.answer_text().await;
        assert_eq!(outcome(&answer), case.expect, "{}: {answer}", case.name);
    }
    let offered: BTreeSet<_> = method_entries().map(|entry| entry.name).collect();
    let asked = relay.asked();
    assert!(asked.contains_key("eth_getBalance"), "nothing was sent on: {asked:?}");
    let strangers: Vec<_> = asked.keys().filter(|method| !offered.contains(method.as_str())).collect();
    assert!(strangers.is_empty(), "{strangers:?}");
    port.kill().await;
}

#[tokio::test]
async fn a_subscription_ends_when_it_is_ended() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    let (one, two) = (peer.subscribe(json!(["newHeads"])).await, peer.subscribe(json!(["newHeads"])).await);
    assert_ne!(one, two);
    dev.mine().await;
    assert_eq!((peer.event().await.0, peer.event().await.0), (one.clone(), two.clone()));
    assert_eq!(peer.result("eth_unsubscribe", json!([one])).await, true);
    dev.mine().await;
    assert_eq!(peer.event().await.0, two);
    assert!(peer.is_quiet().await);
    assert_eq!(peer.ask("eth_unsubscribe", json!([one])).await["error"]["code"], -32000);
    assert_eq!(peer.result("eth_unsubscribe", json!([two])).await, true);
    dev.mine().await;
    assert!(peer.is_quiet().await);
}

#[tokio::test]
async fn subscriptions_may_stand_in_a_batch_and_need_a_socket() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "eth_subscribe", "params": ["newHeads"] },
        { "jsonrpc": "2.0", "id": 2, "method": "eth_subscribe", "params": ["syncing"] },
    ]);
    peer.send(Message::text(batch.to_string())).await;
    let answers = peer.answer().await;
    dev.mine().await;
    assert_eq!(json!(peer.event().await.0), answers[0]["result"]);
    assert!(peer.is_quiet().await, "a gateway is never syncing");
    let over_http = front.call("eth_subscribe", json!(["newHeads"])).await;
    assert_eq!(over_http.refusal(), (200, -32604, "websocket_required".to_owned()));
}

#[tokio::test]
async fn subscriptions_are_bounded_per_connection() {
    let dev = Dev::start();
    let mut config = open();
    config.limits.max_subscriptions = 2;
    let front = Front::new(config, dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    for _ in 0..2 {
        peer.subscribe(json!(["newHeads"])).await;
    }
    let refused = peer.ask("eth_subscribe", json!(["newHeads"])).await;
    assert_eq!(refused["error"]["code"], -32005);
    assert_eq!(refused["error"]["data"]["reason"], "too_many_subscriptions");
}

#[tokio::test]
async fn every_message_and_every_part_of_a_batch_counts() {
    let dev = Dev::start();
    let config = GatewayConfig { door: Door::Open { requests_per_minute: 10.try_into().unwrap() }, ..open() };
    let front = Front::new(config, dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    for _ in 0..5 {
        peer.result("eth_chainId", json!([])).await;
    }
    let one = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_chainId" });
    peer.send(Message::text(Value::from(vec![one; 8]).to_string())).await;
    let answers = peer.answer().await;
    let refused = answers.as_array().expect("a list").iter().filter(|one| one["error"]["code"] == -32005);
    assert!(refused.count() >= 3, "{answers}");
    // The same allowance over HTTP, and on another socket.
    assert_eq!(front.call("eth_chainId", json!([])).await.refusal().1, -32005);
    let mut other = Peer::open(front.address).await;
    assert_eq!(other.ask("eth_chainId", json!([])).await["error"]["code"], -32005);
}

#[tokio::test]
async fn a_message_that_is_too_long_closes_the_socket_with_the_reason() {
    let dev = Dev::start();
    let mut config = open();
    config.limits.max_body_bytes = 64;
    let front = Front::new(config, dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    peer.send(Message::text("x".repeat(65))).await;
    assert_eq!(peer.goodbye().await, (1009, "message too large".to_owned()));
}

#[tokio::test]
async fn a_gateway_that_stops_says_so() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    peer.subscribe(json!(["newHeads"])).await;
    front.stop.cancel();
    assert_eq!(peer.goodbye().await, (1012, "the gateway is restarting".to_owned()));
}

#[tokio::test]
async fn a_goodbye_is_returned() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    peer.subscribe(json!(["newHeads"])).await;
    peer.close().await;
    assert_eq!(peer.goodbye().await, (1000, "done".to_owned()));
}
