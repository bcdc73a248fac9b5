//! What a node answers is believed only if it can be true.

use std::{error::Error, time::Duration};

use alloy_primitives::{B256, U256};
use bytes::Bytes;
use chainnet_chain::{
    At, ChainClient, ChainError, FoundTransaction,
    remote::{RemoteClient, RemoteConfig},
};
use serde_json::json;

use crate::{
    fake::{FakeNode, Fault},
    ledger::CONTRACT,
};

/// Nothing happens by itself: no polling, no pause.
fn config() -> RemoteConfig {
    RemoteConfig {
        poll_interval: Duration::from_secs(3600),
        failures_before_pause: u32::MAX,
        ..RemoteConfig::default()
    }
}

async fn client(node: &FakeNode) -> RemoteClient {
    RemoteClient::connect(&[node.url()], config()).await.expect("a client")
}

/// The innermost cause of an answer that was not understood.
fn cause<T: std::fmt::Debug>(result: Result<T, ChainError>) -> String {
    let error = result.expect_err("an answer that cannot be believed");
    assert!(matches!(error, ChainError::NotUnderstood { .. }), "{error:?}");
    assert!(error.is_temporary());
    error.source().expect("a cause").to_string()
}

#[tokio::test]
async fn true_answers_are_read_whole() {
    let node = FakeNode::at(8).await;
    let client = client(&node).await;
    let ledger = node.ledger();
    assert_eq!(client.chain_id().await.expect("an id"), 8845);
    for number in 0..=8 {
        let block = client.block(number).await.expect("an answer").expect("a block");
        assert_eq!(block, ledger.block(number));
        assert_eq!(client.block_by_hash(block.hash).await.expect("an answer"), Some(block.clone()));
        assert_eq!(client.receipts(&block).await.expect("receipts"), ledger.receipts(number));
    }
    let account = client.account(CONTRACT, At::Head).await.expect("an account");
    assert_eq!((account.balance, account.nonce, account.code.len()), (U256::from(7), 3, 2));
    assert_eq!(client.call(CONTRACT, Bytes::new().into(), At::Number(3)).await.expect("output")[..], [0x2a]);
    assert_eq!(client.gas_price().await.expect("a price"), U256::from(7));
    let hash = *ledger.block(5).transactions[1].tx_hash();
    let found = client.transaction(hash).await.expect("an answer");
    assert!(matches!(found, Some(FoundTransaction::Mined { block, index: 1 }) if block == ledger.block(5)));
}

#[tokio::test]
async fn the_price_of_gas_is_not_below_the_configured_one() {
    let node = FakeNode::at(8).await;
    for (min_gas_price, expected) in [(5, 7), (10, 10)] {
        let client = RemoteClient::connect(&[node.url()], RemoteConfig { min_gas_price, ..config() }).await;
        let client = client.expect("a client");
        assert_eq!(client.gas_price().await.expect("a price"), U256::from(expected));
    }
}

#[tokio::test]
async fn what_does_not_exist_is_nothing_and_not_an_error() {
    let node = FakeNode::at(8).await;
    let client = client(&node).await;
    let ledger = node.ledger();
    assert_eq!(client.block(9).await.expect("an answer"), None);
    assert_eq!(client.block_by_hash(B256::ZERO).await.expect("an answer"), None);
    assert!(client.transaction(B256::ZERO).await.expect("an answer").is_none());
    for error in [
        client.account(CONTRACT, At::Number(9)).await.map(drop),
        client.call(CONTRACT, Bytes::new().into(), At::Number(9)).await.map(drop),
        client.receipts(&ledger.block(10)).await.map(drop),
    ] {
        assert!(matches!(error, Err(ChainError::Refused { code: -32000, .. })), "{error:?}");
    }
    assert_eq!(node.asked("eth_getBalance") + node.asked("eth_call"), 0);
}

#[tokio::test]
async fn nothing_above_the_served_head_is_shown() {
    let node = FakeNode::at(4).await;
    node.change(|script| script.has_websocket = false);
    let client = client(&node).await;
    let ledger = node.ledger();
    node.change(|script| script.head = 5);
    assert_eq!(client.block(5).await.expect("an answer"), None);
    assert_eq!(client.block_by_hash(ledger.block(5).hash).await.expect("an answer"), None);
    let waiting = client.transaction(*ledger.block(5).transactions[0].tx_hash()).await.expect("an answer");
    assert!(matches!(waiting, Some(FoundTransaction::Pending(_))), "{waiting:?}");
}

#[tokio::test]
async fn a_lie_about_a_block_is_not_believed() {
    let node = FakeNode::at(8).await;
    let client = client(&node).await;
    let block = "eth_getBlockByNumber";
    node.tamper(block, |block| block["hash"] = json!(B256::ZERO));
    assert!(cause(client.block(5).await).contains("hashes to"));
    node.tamper(block, |block| block["stateRoot"] = json!(B256::ZERO));
    assert!(cause(client.block(5).await).contains("hashes to"));
    node.tamper(block, |block| block["extraData"] = json!("0x00"));
    assert!(cause(client.block(5).await).contains("hashes to"));
    let other = node.ledger().block(4);
    node.tamper(block, move |block| *block = crate::ledger::block_json(&other));
    assert!(cause(client.block(5).await).contains("instead of"));
    node.tamper(block, |block| *block = json!(null));
    assert!(cause(client.block(5).await).contains("missing"));
    node.fail(Fault::None);
    assert!(client.block(5).await.expect("an answer").is_some());
}

#[tokio::test]
async fn a_lie_about_a_transaction_is_not_believed() {
    let node = FakeNode::at(8).await;
    let client = client(&node).await;
    let block = "eth_getBlockByNumber";
    node.tamper(block, |block| drop(block["transactions"].as_array_mut().map(Vec::pop)));
    assert!(cause(client.block(5).await).contains("not those of the header"));
    node.tamper(block, |block| block["transactions"][0]["value"] = json!("0x1"));
    assert!(cause(client.block(5).await).contains("not those of the header"));
    node.tamper(block, |block| block["transactions"][1]["hash"] = json!(B256::ZERO));
    assert!(cause(client.block(5).await).contains("transaction 1 does not have the hash"));
    node.tamper(block, |block| block["transactions"][1]["from"] = json!(CONTRACT));
    assert!(cause(client.block(5).await).contains("transaction 1 was not signed"));
    node.tamper(block, |block| block["transactions"] = json!([B256::ZERO]));
    assert!(cause(client.block(5).await).contains("JSON"));
}

#[tokio::test]
async fn a_lie_about_a_receipt_is_not_believed() {
    let node = FakeNode::at(8).await;
    let client = client(&node).await;
    let block = node.ledger().block(5);
    let receipts = "eth_getBlockReceipts";
    node.tamper(receipts, |receipts| receipts[0]["status"] = json!("0x0"));
    assert!(cause(client.receipts(&block).await).contains("not those of the header"));
    node.tamper(receipts, |receipts| receipts[0]["logs"] = json!([]));
    assert!(cause(client.receipts(&block).await).contains("not those of the header"));
    node.tamper(receipts, |receipts| receipts[0]["logs"][0]["topics"] = json!(vec![B256::ZERO; 5]));
    assert!(cause(client.receipts(&block).await).contains("topics"));
    node.tamper(receipts, |receipts| receipts.as_array_mut().expect("a list").reverse());
    assert!(cause(client.receipts(&block).await).contains("another transaction"));
    node.tamper(receipts, |receipts| drop(receipts.as_array_mut().map(Vec::pop)));
    assert!(cause(client.receipts(&block).await).contains("1 receipts for 2"));
}

#[tokio::test]
async fn a_development_chain_is_believed_by_its_plain_hash() {
    let node = FakeNode::at(8).await;
    node.change(|script| {
        for (block, _) in &mut script.ledger.0 {
            let block = std::sync::Arc::make_mut(block);
            block.header.extra_data = Bytes::from_static(&[0xaa; 32]).into();
            block.hash = block.header.hash_slow();
        }
    });
    let client = client(&node).await;
    assert_eq!(client.block(4).await.expect("an answer"), Some(node.ledger().block(4)));
    node.tamper("eth_getBlockByNumber", |block| block["gasLimit"] = json!("0x1"));
    assert!(cause(client.block(5).await).contains("hashes to"));
}

#[tokio::test]
async fn garbage_is_not_understood() {
    let node = FakeNode::at(8).await;
    let client = client(&node).await;
    for garbage in
        [&b""[..], b"<html>", b"{", b"[]", b"{}", b"null", b"{\"id\":0,\"result\":{}}", b"\xff\xfe", b"[1,2]"]
    {
        node.fail(Fault::Body(Bytes::from_static(garbage)));
        cause(client.block(5).await);
        cause(client.block_by_hash(B256::ZERO).await);
        cause(client.receipts(&node.ledger().block(5)).await);
        cause(client.transaction(B256::ZERO).await);
        cause(client.account(CONTRACT, At::Head).await);
        cause(client.call(CONTRACT, Bytes::new().into(), At::Head).await);
        cause(client.gas_price().await);
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_is_not_read_to_its_end() {
    let node = FakeNode::at(8).await;
    let config = RemoteConfig { max_answer_bytes: 100_000, ..config() };
    let client = RemoteClient::connect(&[node.url()], config).await.expect("a client");
    node.fail(Fault::Body(vec![b' '; 100_001].into()));
    let error = client.block(5).await.expect_err("too long");
    assert!(matches!(error, ChainError::Unavailable(Some(_))), "{error:?}");
    node.fail(Fault::None);
    assert!(client.block(5).await.expect("an answer").is_some());
}

#[tokio::test]
async fn a_node_that_never_answers_is_given_up_in_time() {
    let node = FakeNode::at(8).await;
    let config = RemoteConfig { request_timeout: Duration::from_millis(200), ..config() };
    let client = RemoteClient::connect(&[node.url()], config).await.expect("a client");
    node.fail(Fault::Silence);
    let error = client.block(5).await.expect_err("silence");
    assert!(matches!(error, ChainError::TimedOut), "{error:?}");
}

#[tokio::test]
async fn receipts_are_asked_for_one_by_one_where_a_node_knows_no_other_way() {
    let node = FakeNode::at(8).await;
    node.change(|script| script.has_block_receipts = false);
    let client = client(&node).await;
    let ledger = node.ledger();
    for number in [2, 5, 8] {
        let receipts = client.receipts(&ledger.block(number)).await.expect("receipts");
        assert_eq!(receipts, ledger.receipts(number));
    }
    assert_eq!(node.asked("eth_getBlockReceipts"), 1);
    assert_eq!(node.asked("eth_getTransactionReceipt"), 6);
    node.tamper("eth_getTransactionReceipt", |receipt| receipt["status"] = json!("0x0"));
    assert!(cause(client.receipts(&ledger.block(5)).await).contains("not those of the header"));
}
