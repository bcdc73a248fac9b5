//! The chain as the rest of the process reads it, without a wire in between.

use std::sync::Arc;

use ::chain::{At, ChainClient, ChainError, FoundTransaction, Rejection, SendError, Sent};
use alloy_primitives::{Address, B256, Bytes, U256, address};
use alloy_sol_types::SolCall;
use chainnet_devchain::client::EmbeddedClient;
use contracts::PlatformFees;
use domain::devnet;

use crate::rig::{Rig, transfer, transfer_of};

const FRIEND: Address = address!("00000000000000000000000000000000000f12e4");

fn client(rig: &Rig) -> EmbeddedClient {
    EmbeddedClient::new(Arc::clone(&rig.chain))
}

#[tokio::test]
async fn heads_follow_the_chain_and_a_revert_lowers_them() {
    let rig = Rig::new();
    let client = client(&rig);
    let mut heads = client.heads();
    let number = |head: &Option<Arc<::chain::Head>>| head.as_ref().expect("a head").number();
    assert_eq!(number(&heads.borrow_and_update()), 0);

    let snapshot = rig.control.snapshot().await.expect("a snapshot");
    rig.mine().await;
    rig.mine().await;
    heads.changed().await.expect("an open channel");
    assert_eq!(number(&heads.borrow_and_update()), 2);
    let second = rig.chain.head().block.hash;

    assert!(rig.control.revert(snapshot).await.expect("a revert"));
    heads.changed().await.expect("an open channel");
    assert_eq!(number(&heads.borrow_and_update()), 0);
    assert!(client.block(2).await.expect("an answer").is_none());
    assert!(client.block_by_hash(second).await.expect("an answer").is_none());
}

#[tokio::test]
async fn blocks_and_receipts_are_the_chains_own() {
    let rig = Rig::new();
    let client = client(&rig);
    rig.transfer(0, 0, FRIEND, 7);
    rig.mine().await;
    let block = client.block(1).await.expect("an answer").expect("block 1");
    assert!(Arc::ptr_eq(&block, &rig.chain.head().block));
    let receipts = client.receipts(&block).await.expect("receipts");
    assert!(Arc::ptr_eq(&receipts, &rig.chain.head().receipts));
    rig.mine().await;
    assert_eq!(client.receipts(&block).await.expect("receipts"), receipts);
    assert_eq!(client.block_by_hash(block.hash).await.expect("an answer"), Some(block));
}

#[tokio::test]
async fn a_transaction_is_pending_and_then_mined() {
    let rig = Rig::new();
    let client = client(&rig);
    let hash = rig.transfer(0, 0, FRIEND, 7);
    let Some(FoundTransaction::Pending(pending)) = client.transaction(hash).await.expect("an answer") else {
        panic!("not pending")
    };
    assert_eq!(*pending.tx_hash(), hash);
    rig.mine().await;
    let Some(FoundTransaction::Mined { block, index: 0 }) =
        client.transaction(hash).await.expect("an answer")
    else {
        panic!("not mined")
    };
    assert_eq!(block.number(), 1);
    assert!(client.transaction(B256::repeat_byte(1)).await.expect("an answer").is_none());
}

#[tokio::test]
async fn accounts_are_read_at_the_head_or_at_a_block() {
    let rig = Rig::new();
    let client = client(&rig);
    rig.transfer(0, 0, FRIEND, 7);
    rig.mine().await;
    let after = client.account(FRIEND, At::Head).await.expect("an account");
    let before = client.account(FRIEND, At::Number(0)).await.expect("an account");
    assert_eq!((after.balance, before.balance), (U256::from(7), U256::ZERO));
    assert!(!client.account(contracts::address::FEES, At::Head).await.expect("an account").code.is_empty());
    let beyond = client.account(FRIEND, At::Number(2)).await;
    assert!(matches!(beyond, Err(ChainError::Refused { code: -32000, .. })), "{beyond:?}");
}

#[tokio::test]
async fn calls_answer_or_revert() {
    let rig = Rig::new();
    let client = client(&rig);
    let treasury = PlatformFees::treasuryCall {}.abi_encode();
    let output = client.call(contracts::address::FEES, treasury.into(), At::Head).await.expect("an answer");
    assert_eq!(
        PlatformFees::treasuryCall::abi_decode_returns(&output).expect("an address"),
        contracts::address::TREASURY
    );
    // A bare call of the checkout is refused by its receive function.
    let reverted = client.call(contracts::address::CHECKOUT, Bytes::from_static(&[1; 4]), At::Head).await;
    assert!(matches!(reverted, Err(ChainError::Reverted { .. })), "{reverted:?}");
}

#[tokio::test]
async fn a_chain_without_base_fee_asks_for_nothing() {
    let rig = Rig::new();
    assert_eq!(client(&rig).gas_price().await.expect("a price"), U256::ZERO);
}

#[tokio::test]
async fn a_transaction_is_taken_once_and_refused_for_a_reason() {
    let rig = Rig::new();
    let client = client(&rig);
    let send = async |nonce, value| client.send_transaction(transfer(0, nonce, FRIEND, value).into()).await;
    let sender = devnet::ACCOUNTS[0].address;
    assert_eq!(client.pending_nonce(sender).await.expect("a nonce"), 0);
    assert_eq!(send(0, 7).await.expect("taken"), Sent::Accepted);
    assert_eq!(send(0, 7).await.expect("known"), Sent::Known);
    assert_eq!(client.pending_nonce(sender).await.expect("a nonce"), 1);
    rig.mine().await;
    assert_eq!(client.pending_nonce(sender).await.expect("a nonce"), 1);

    let reason = |result| match result {
        Err(SendError::Rejected { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(send(0, 7).await), Rejection::NonceTooLow);
    assert_eq!(reason(send(1_000, 7).await), Rejection::NotNow);
    assert_eq!(reason(client.send_transaction(Bytes::from_static(&[1])).await), Rejection::Other);
    let poor = transfer_of(B256::repeat_byte(7), 0, FRIEND, 1);
    assert_eq!(reason(client.send_transaction(poor.into()).await), Rejection::InsufficientFunds);
    assert_eq!(client.pending_nonce(FRIEND).await.expect("a nonce"), 0);
}
