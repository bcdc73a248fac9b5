//! Hearing of transactions in the nodes' pools.

use std::time::Duration;

use alloy_primitives::B256;
use chainnet_chain::{
    RawUpstream,
    remote::{RemoteClient, RemoteConfig},
};
use futures_util::StreamExt;

use crate::fake::{FakeNode, in_time};

/// Follows the nodes by their feeds alone.
fn config() -> RemoteConfig {
    RemoteConfig { poll_interval: Duration::from_secs(3600), ..RemoteConfig::default() }
}

#[tokio::test]
async fn pools_are_heard_while_somebody_listens() {
    let node = FakeNode::at(1).await;
    let client = RemoteClient::connect(&[node.url()], config()).await.expect("a client");
    node.subscribed(1).await;
    node.pool_subscribed(0).await;
    let mut one = client.pending().await;
    let mut two = client.pending().await;
    node.pool_subscribed(1).await;
    node.pool(B256::repeat_byte(1));
    assert_eq!(in_time(one.next()).await, Some(B256::repeat_byte(1)));
    assert_eq!(in_time(two.next()).await, Some(B256::repeat_byte(1)));
    drop(one);
    node.pool(B256::repeat_byte(2));
    assert_eq!(in_time(two.next()).await, Some(B256::repeat_byte(2)));
    drop(two);
    node.pool_subscribed(0).await;
    let mut again = client.pending().await;
    node.pool_subscribed(1).await;
    node.pool(B256::repeat_byte(3));
    assert_eq!(in_time(again.next()).await, Some(B256::repeat_byte(3)));
}

#[tokio::test]
async fn pools_of_several_nodes_tell_of_a_transaction_once() {
    let (one, two) = (FakeNode::at(1).await, FakeNode::at(1).await);
    let client = RemoteClient::connect(&[one.url(), two.url()], config()).await.expect("a client");
    let mut hashes = client.pending().await;
    one.pool_subscribed(1).await;
    two.pool_subscribed(1).await;
    for byte in 1..=3 {
        one.pool(B256::repeat_byte(byte));
        two.pool(B256::repeat_byte(byte));
    }
    two.pool(B256::repeat_byte(4));
    let mut heard: Vec<_> = Vec::new();
    while heard.len() < 4 {
        heard.extend(in_time(hashes.next()).await);
    }
    heard.sort();
    assert_eq!(heard, [1, 2, 3, 4].map(B256::repeat_byte));
}

#[tokio::test]
async fn a_pool_is_heard_again_after_the_websocket_was_cut() {
    let node = FakeNode::at(1).await;
    let client = RemoteClient::connect(&[node.url()], config()).await.expect("a client");
    let mut hashes = client.pending().await;
    node.pool_subscribed(1).await;
    node.cut_websockets();
    node.pool_subscribed(0).await;
    node.subscribed(2).await;
    node.pool_subscribed(1).await;
    node.pool(B256::repeat_byte(1));
    assert_eq!(in_time(hashes.next()).await, Some(B256::repeat_byte(1)));
}
