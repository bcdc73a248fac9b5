//! Handing transactions to nodes that take them, refuse them, or do not say.

use std::time::Duration;

use alloy_primitives::{Address, Bytes};
use chainnet_chain::{
    ChainClient, Rejection, SendError, Sent,
    remote::{RemoteClient, RemoteConfig},
};

use crate::fake::{FakeNode, Fault};

const RAW: Bytes = Bytes::from_static(&[2, 1, 2, 3]);
const METHOD: &str = "eth_sendRawTransaction";

async fn connect(nodes: &[&FakeNode]) -> RemoteClient {
    let urls: Vec<_> = nodes.iter().map(|node| node.url()).collect();
    let config = RemoteConfig {
        request_timeout: Duration::from_millis(300),
        poll_interval: Duration::from_secs(3600),
        ..RemoteConfig::default()
    };
    RemoteClient::connect(&urls, config).await.expect("a client")
}

fn refuse(node: &FakeNode, code: i64, message: &'static str) {
    node.change(|script| script.pool_refusal = Some((code, message)));
}

#[tokio::test]
async fn two_of_three_nodes_get_a_transaction() {
    let nodes = [FakeNode::at(5).await, FakeNode::at(5).await, FakeNode::at(5).await];
    let client = connect(&nodes.each_ref()).await;
    assert_eq!(client.send_transaction(RAW).await.expect("taken"), Sent::Accepted);
    let mut asked = 0;
    while asked < 2 {
        // The second node's copy is on its way when the first has answered.
        tokio::task::yield_now().await;
        asked = nodes.iter().map(|node| node.asked(METHOD)).sum();
    }
    assert_eq!(asked, 2);
    assert_eq!(client.pending_nonce(Address::ZERO).await.expect("a nonce"), 3);
}

#[tokio::test]
async fn a_node_that_has_it_already_counts_as_a_success() {
    let (first, second) = (FakeNode::at(5).await, FakeNode::at(5).await);
    let client = connect(&[&first, &second]).await;
    refuse(&first, -32000, "Known transaction");
    refuse(&second, -32000, "already known");
    assert_eq!(client.send_transaction(RAW).await.expect("known"), Sent::Known);
}

#[tokio::test]
async fn one_node_that_takes_it_outweighs_one_that_refuses() {
    let (first, second) = (FakeNode::at(5).await, FakeNode::at(5).await);
    let client = connect(&[&first, &second]).await;
    refuse(&first, -32000, "txpool is full");
    assert_eq!(client.send_transaction(RAW).await.expect("taken"), Sent::Accepted);
}

#[tokio::test]
async fn it_is_rejected_only_if_everybody_who_was_asked_says_so() {
    let refused = [FakeNode::at(5).await, FakeNode::at(5).await];
    refused.iter().for_each(|node| refuse(node, -32001, "Nonce too low"));
    let error = connect(&refused.each_ref()).await.send_transaction(RAW).await.expect_err("refused");
    assert!(matches!(error, SendError::Rejected { reason: Rejection::NonceTooLow, .. }), "{error:?}");
    for fault in [Fault::Silence, Fault::HangUp, Fault::Body("garbage".into())] {
        let second = FakeNode::at(5).await;
        let client = connect(&[&refused[0], &second]).await;
        second.fail(fault);
        let error = client.send_transaction(RAW).await.expect_err("no success");
        assert!(matches!(error, SendError::Unknown(_)), "{error:?}");
    }
}

#[tokio::test]
async fn an_answer_with_another_hash_is_no_success() {
    let node = FakeNode::at(5).await;
    let client = connect(&[&node]).await;
    node.tamper(METHOD, |result| *result = format!("0x{}", "11".repeat(32)).into());
    let error = client.send_transaction(RAW).await.expect_err("no success");
    assert!(matches!(error, SendError::Unknown(_)), "{error:?}");
}

#[tokio::test]
async fn without_a_node_nothing_is_known() {
    let node = FakeNode::at(5).await;
    let client = connect(&[&node]).await;
    drop(node);
    let error = client.send_transaction(RAW).await.expect_err("no success");
    assert!(matches!(error, SendError::Unknown(_)), "{error:?}");
}
