//! Keeping up with a node's head, by WebSocket and without.

use std::time::Duration;

use chainnet_chain::{
    ChainClient,
    remote::{RemoteClient, RemoteConfig},
};

use crate::{
    fake::{FakeNode, head_at_least, in_time},
    ledger::Ledger,
};

const NEVER: Duration = Duration::from_secs(3600);

fn config(poll_interval: Duration) -> RemoteConfig {
    RemoteConfig { poll_interval, ..RemoteConfig::default() }
}

#[tokio::test]
async fn heads_are_fed_by_websocket_without_asking() {
    let node = FakeNode::at(1).await;
    let client = RemoteClient::connect(&[node.url()], config(NEVER)).await.expect("a client");
    node.subscribed(1).await;
    for number in 2..=6 {
        node.mine_to(number);
        head_at_least(&client, number).await;
        assert_eq!(client.heads().borrow().clone(), Some(node.ledger().head(number)));
    }
    // One at the start, and at most one when the feed began.
    assert!(node.asked("eth_getBlockByNumber") <= 2);
}

#[tokio::test]
async fn a_cut_websocket_is_opened_again() {
    let node = FakeNode::at(1).await;
    let client = RemoteClient::connect(&[node.url()], config(NEVER)).await.expect("a client");
    node.subscribed(1).await;
    node.cut_websockets();
    node.subscribed(2).await;
    node.mine_to(2);
    head_at_least(&client, 2).await;
    node.mine_to(3);
    head_at_least(&client, 3).await;
}

#[tokio::test]
async fn heads_are_asked_for_where_there_is_no_websocket() {
    let node = FakeNode::at(1).await;
    node.change(|script| script.has_websocket = false);
    let client =
        RemoteClient::connect(&[node.url()], config(Duration::from_millis(10))).await.expect("a client");
    for number in 2..=4 {
        node.mine_to(number);
        head_at_least(&client, number).await;
    }
}

#[tokio::test]
async fn a_websocket_may_have_an_address_of_its_own() {
    let (rpc, feed) = (FakeNode::at(1).await, FakeNode::at(1).await);
    let url = format!("http://{}|ws://{}", rpc.address, feed.address).parse().expect("a URL");
    let client = RemoteClient::connect(&[url], config(NEVER)).await.expect("a client");
    feed.subscribed(1).await;
    feed.mine_to(2);
    head_at_least(&client, 2).await;
    assert_eq!(feed.asked("eth_getBlockByNumber"), 0);
}

#[tokio::test]
async fn a_head_that_cannot_be_true_is_not_served() {
    let node = FakeNode::at(1).await;
    let client = RemoteClient::connect(&[node.url()], config(NEVER)).await.expect("a client");
    node.subscribed(1).await;
    // The feed shows a header that does not hash to what it claims; asking shows the true one.
    node.change(|script| {
        let block = std::sync::Arc::make_mut(&mut script.ledger.0[2].0);
        block.header.gas_limit = 1;
    });
    node.mine_to(2);
    node.mine_to(3);
    head_at_least(&client, 3).await;
    assert_eq!(client.heads().borrow().clone(), Some(node.ledger().head(3)));
}

#[tokio::test]
async fn a_development_chain_may_go_back() {
    let node = FakeNode::at(6).await;
    let config = RemoteConfig { follow_reverts: true, ..config(Duration::from_millis(10)) };
    let client = RemoteClient::connect(&[node.url()], config).await.expect("a client");
    let mut heads = client.heads();
    node.mine_to(2);
    in_time(heads.wait_for(|head| head.as_ref().is_some_and(|head| head.number() == 2))).await.expect("open");
    node.change(|script| {
        script.ledger = Ledger::forked(20, 1);
        script.head = 6;
    });
    let forked = node.ledger().block(6).hash;
    in_time(heads.wait_for(|head| head.as_ref().is_some_and(|head| head.hash == forked)))
        .await
        .expect("open");
}

#[tokio::test]
async fn elsewhere_a_lower_or_another_head_is_ignored() {
    let node = FakeNode::at(6).await;
    let client =
        RemoteClient::connect(&[node.url()], config(Duration::from_millis(10))).await.expect("a client");
    let served = client.heads().borrow().clone();
    node.change(|script| {
        script.ledger = Ledger::forked(20, 1);
        script.head = 6;
    });
    let asked = node.asked("eth_getBlockByNumber");
    in_time(async {
        while node.asked("eth_getBlockByNumber") < asked + 3 {
            tokio::task::yield_now().await
        }
    })
    .await;
    assert_eq!(client.heads().borrow().clone(), served);
}
