//! Subscriptions: every event once, in order, whatever happens behind the gateway.

use std::{collections::BTreeMap, sync::Arc};

use alloy_primitives::{Address, B256};
use chain::RawUpstream;
use proptest::{
    prelude::*,
    strategy::ValueTree,
    test_runner::{Config, RngSeed, TestRunner},
};
use serde_json::{Value, json};

use crate::{
    dev::{Dev, MOST_TOPICS, Port, remote},
    front::{Front, number, open},
    nodes::headless,
    peer::Peer,
};

#[tokio::test]
async fn heads_look_exactly_as_the_node_shows_them() {
    let dev = Dev::start();
    let port = Port::open(&dev).await;
    let front = Front::new(open(), dev.in_process()).await;
    let (mut ours, mut theirs) = (Peer::open(front.address).await, Peer::open(port.address).await);
    ours.subscribe(json!(["newHeads"])).await;
    theirs.subscribe(json!(["newHeads"])).await;
    dev.pay();
    for _ in 0..3 {
        dev.mine().await;
        assert_eq!(ours.event().await.1, theirs.event().await.1);
    }
    port.kill().await;
}

#[tokio::test]
async fn no_head_is_left_out_or_repeated_when_the_node_goes_and_comes_back() {
    let dev = Dev::start();
    let port = Port::open(&dev).await;
    let front = Front::new(open(), remote(&[&port]).await).await;
    let mut peer = Peer::open(front.address).await;
    peer.subscribe(json!(["newHeads"])).await;
    for _ in 0..3 {
        dev.mine().await;
    }
    assert_eq!(peer.heads(3).await, [1, 2, 3]);
    let address = port.kill().await;
    for _ in 0..5 {
        dev.mine().await;
    }
    let port = Port::open_at(&dev, address).await;
    assert_eq!(peer.heads(5).await, [4, 5, 6, 7, 8]);
    dev.mine().await;
    assert_eq!(peer.heads(1).await, [9]);
    assert!(peer.is_quiet().await);
    port.kill().await;
}

#[tokio::test]
async fn two_nodes_tell_of_a_head_once_and_one_is_enough() {
    let dev = Dev::start();
    let (one, two) = (Port::open(&dev).await, Port::open(&dev).await);
    let front = Front::new(open(), remote(&[&one, &two]).await).await;
    let mut peer = Peer::open(front.address).await;
    peer.subscribe(json!(["newHeads"])).await;
    for _ in 0..3 {
        dev.mine().await;
    }
    assert_eq!(peer.heads(3).await, [1, 2, 3]);
    one.kill().await;
    for _ in 0..3 {
        dev.mine().await;
    }
    assert_eq!(peer.heads(3).await, [4, 5, 6]);
    assert!(peer.is_quiet().await);
    two.kill().await;
}

#[tokio::test]
async fn subscriptions_go_on_after_a_revert() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    peer.subscribe(json!(["newHeads"])).await;
    dev.mine().await;
    let snapshot = dev.control.snapshot().await.expect("a snapshot");
    dev.mine().await;
    assert_eq!(peer.heads(2).await, [1, 2]);
    assert!(dev.control.revert(snapshot).await.expect("a revert"));
    // Seen before the chain goes on; what was told of before is not told of again.
    peer.at_head(1).await;
    // Another block 2, which a transaction makes a different one.
    dev.pay();
    dev.mine().await;
    let (_, head) = peer.event().await;
    assert_eq!(number(&head["number"]), 2);
    assert_eq!(head["hash"], json!(dev.chain.head().block.hash));
}

#[tokio::test]
async fn a_revert_that_only_shows_in_the_blocks_is_noticed() {
    let dev = Dev::start();
    let upstream = headless(&dev);
    let front = Front::new(open(), Arc::clone(&upstream) as Arc<dyn RawUpstream>).await;
    let snapshot = dev.control.snapshot().await.expect("a snapshot");
    dev.mine().await;
    upstream.show(&dev.chain.head().block);
    front.ready().await;
    let mut peer = Peer::open(front.address).await;
    peer.subscribe(json!(["newHeads"])).await;
    let old = peer.result("eth_getBlockByNumber", json!(["0x1", false])).await;
    assert!(dev.control.revert(snapshot).await.expect("a revert"));
    dev.pay();
    for _ in 0..3 {
        dev.mine().await;
    }
    // Block 3 is no child of the old block 1, but of a block 2 that the gateway has to fetch.
    upstream.show(&dev.chain.head().block);
    assert_eq!(peer.heads(2).await, [2, 3]);
    let new = peer.result("eth_getBlockByNumber", json!(["0x1", false])).await;
    assert_ne!(old["hash"], new["hash"], "what was kept is dropped");
}

/// A filter of a log subscription: some of these contracts, some of these topics, anything from time to time.
fn filter(emitters: Vec<Address>) -> impl Strategy<Value = Value> {
    let addresses = proptest::sample::subsequence(emitters, 0..=3);
    let topic = prop_oneof![
        1 => Just(Value::Null),
        2 => (0..3u8).prop_map(|byte| json!(B256::repeat_byte(byte))),
        2 => proptest::collection::vec((0..3u8).prop_map(B256::repeat_byte), 1..3).prop_map(|any| json!(any)),
    ];
    // A last topic of null means "at least so many topics" to some nodes and nothing to others.
    let topics = proptest::collection::vec(topic, 0..=MOST_TOPICS)
        .prop_filter("ends with a topic", |topics| topics.last().is_none_or(|last| !last.is_null()));
    (addresses, topics).prop_map(|(addresses, topics)| match addresses.len() {
        0 => json!({ "topics": topics }),
        1 => json!({ "address": addresses[0], "topics": topics }),
        _ => json!({ "address": addresses, "topics": topics }),
    })
}

#[tokio::test]
async fn logs_are_those_that_the_node_finds_in_the_same_blocks() {
    const FILTERS: usize = 30;
    const BLOCKS: u64 = 6;
    let dev = Dev::start();
    let port = Port::open(&dev).await;
    let front = Front::new(open(), dev.in_process()).await;
    let emitters = dev.deploy_emitters().await;
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(41), ..Config::default() });
    let mut peer = Peer::open(front.address).await;
    let mut filters = BTreeMap::new();
    while filters.len() < FILTERS {
        let filter = filter(emitters.clone()).new_tree(&mut runner).expect("a filter").current();
        filters.insert(peer.subscribe(json!(["logs", filter])).await, filter);
    }
    let first = dev.head() + 1;
    let topics = proptest::collection::vec((0..3u8).prop_map(B256::repeat_byte), MOST_TOPICS);
    for _ in 0..BLOCKS {
        for _ in 0..6 {
            let topics = topics.new_tree(&mut runner).expect("topics").current();
            let emitter = (0..emitters.len()).new_tree(&mut runner).expect("an emitter").current();
            dev.emit(emitters[emitter], &topics);
        }
        dev.mine().await;
    }
    front.reach(first + BLOCKS - 1).await;
    let mut node = Peer::open(port.address).await;
    let mut expected = BTreeMap::new();
    for (id, filter) in &filters {
        let mut filter = filter.clone();
        filter["fromBlock"] = json!(format!("{first:#x}"));
        filter["toBlock"] = json!(format!("{:#x}", first + BLOCKS - 1));
        let logs = node.result("eth_getLogs", json!([filter])).await;
        assert_eq!(logs, peer.result("eth_getLogs", json!([filter])).await, "{filter}");
        expected.insert(id.clone(), logs.as_array().expect("a list").clone());
    }
    let total: usize = expected.values().map(Vec::len).sum();
    assert!(total > FILTERS, "filters that find nothing prove nothing: {total}");
    let mut heard: BTreeMap<String, Vec<Value>> = filters.keys().map(|id| (id.clone(), Vec::new())).collect();
    for _ in 0..total {
        let (id, log) = peer.event().await;
        heard.get_mut(&id).expect("a subscription of ours").push(log);
    }
    for (id, filter) in &filters {
        assert_eq!(heard[id], expected[id], "{filter}");
    }
    assert!(peer.is_quiet().await);
    port.kill().await;
}

async fn hears_pending(front: &Front, dev: &Dev) {
    let (mut one, mut two) = (Peer::open(front.address).await, Peer::open(front.address).await);
    let id = one.subscribe(json!(["newPendingTransactions"])).await;
    two.subscribe(json!(["newPendingTransactions"])).await;
    let hashes: Vec<_> = (0..20).map(|_| json!(dev.pay())).collect();
    for peer in [&mut one, &mut two] {
        let mut heard = Vec::new();
        for _ in &hashes {
            heard.push(peer.event().await.1);
        }
        assert_eq!(heard, hashes);
    }
    assert_eq!(one.result("eth_unsubscribe", json!([id])).await, true);
    let hash = dev.pay();
    assert_eq!(two.event().await.1, json!(hash));
    assert!(one.is_quiet().await);
}

#[tokio::test]
async fn pending_transactions_are_told_of_once() {
    let dev = Dev::start();
    let front = Front::new(open(), dev.in_process()).await;
    hears_pending(&front, &dev).await;
}

#[tokio::test]
async fn pending_transactions_of_two_nodes_are_told_of_once() {
    let dev = Dev::start();
    let (one, two) = (Port::open(&dev).await, Port::open(&dev).await);
    let front = Front::new(open(), remote(&[&one, &two]).await).await;
    hears_pending(&front, &dev).await;
    one.kill().await;
    two.kill().await;
}

#[tokio::test]
async fn the_head_of_before_is_not_news() {
    let dev = Dev::start();
    dev.mine().await;
    let front = Front::new(open(), dev.in_process()).await;
    let mut peer = Peer::open(front.address).await;
    peer.subscribe(json!(["newHeads"])).await;
    assert!(peer.is_quiet().await);
    dev.mine().await;
    assert_eq!(peer.heads(1).await, [2]);
}
