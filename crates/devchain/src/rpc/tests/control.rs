//! The clock, the head and the validators moved by hand.

use serde_json::{Value, json};

use super::{LOG, Rig};

async fn timestamp(rig: &Rig) -> u64 {
    let block = rig.get("eth_getBlockByNumber", json!(["latest", false])).await;
    u64::from_str_radix(&block["timestamp"].as_str().unwrap()[2..], 16).unwrap()
}

#[tokio::test]
async fn time_can_be_moved_forward_and_set() {
    let rig = Rig::start().await;
    rig.mine().await;
    let before = timestamp(&rig).await;
    let offset = rig.get("evm_increaseTime", json!([3600])).await;
    assert!(offset.as_i64().unwrap() >= 3600);
    rig.mine().await;
    let moved = timestamp(&rig).await;
    // A block of a later round rounds its time down where the first rounds it up.
    assert!(moved + 1 >= before + 3600, "{before} {moved}");
    rig.get("evm_setNextBlockTimestamp", json!([moved + 100])).await;
    rig.mine().await;
    assert_eq!(timestamp(&rig).await, moved + 100);
    rig.get("evm_mine", json!([moved + 200])).await;
    assert_eq!(timestamp(&rig).await, moved + 200);
    rig.get("evm_mine", json!([{ "timestamp": moved + 300, "blocks": 2 }])).await;
    assert_eq!(rig.get("eth_blockNumber", json!([])).await, "0x6");
}

#[tokio::test]
async fn a_snapshot_takes_the_chain_back() {
    let rig = Rig::start().await;
    let id = rig.get("evm_snapshot", json!([])).await;
    let hash = rig.send(0, LOG, &[]).await;
    rig.mine().await;
    assert_eq!(rig.get("evm_revert", json!([id])).await, true);
    assert_eq!(rig.get("eth_blockNumber", json!([])).await, "0x0");
    assert_eq!(rig.get("eth_getTransactionReceipt", json!([hash])).await, Value::Null);
    assert_eq!(rig.get("evm_revert", json!([id])).await, false);
}

#[tokio::test]
async fn votes_are_kept_until_discarded() {
    let rig = Rig::start().await;
    let subject = format!("0x{}", "ab".repeat(20));
    assert_eq!(rig.get("ibft_getPendingVotes", json!([])).await, json!({}));
    assert_eq!(rig.get("ibft_proposeValidatorVote", json!(["ab".repeat(20), true])).await, true);
    assert_eq!(rig.get("ibft_getPendingVotes", json!([])).await, json!({ &subject: true }));
    assert_eq!(rig.get("ibft_discardValidatorVote", json!([subject])).await, true);
    assert_eq!(rig.get("ibft_getPendingVotes", json!([])).await, json!({}));
    rig.get("chainnet_proposeVote", json!(["V1", subject, false])).await;
    assert_eq!(rig.get("ibft_getPendingVotes", json!([])).await, json!({ &subject: false }));
    rig.get("chainnet_discardVote", json!(["V1", subject])).await;
    assert_eq!(rig.get("ibft_getPendingVotes", json!([])).await, json!({}));
}

#[tokio::test]
async fn validators_are_stopped_and_started() {
    let rig = Rig::start().await;
    let running = |status: &Value| status[0]["running"].as_bool().unwrap();
    assert!(running(&rig.get("chainnet_validators", json!([])).await));
    rig.get("chainnet_stopValidator", json!(["V1"])).await;
    let status = rig.get("chainnet_validators", json!([])).await;
    assert!(!running(&status));
    assert_eq!((&status[0]["name"], &status[0]["address"]), (&json!("V1"), &json!(rig.validator)));
    let (code, message) = rig.fail("evm_mine", json!([])).await;
    assert_eq!(code, -32000);
    assert!(message.contains("0 of 1 validators"), "{message}");
    rig.get("chainnet_startValidator", json!([rig.validator])).await;
    rig.mine().await;
}
