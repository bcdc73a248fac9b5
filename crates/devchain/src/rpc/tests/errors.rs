//! Every code and message that callers can be told.

use alloy_consensus::TxLegacy;
use alloy_primitives::{Address, Bytes, TxKind, U256};
use serde_json::json;

use super::{BLOCK_GAS_LIMIT, CHAIN_ID, LOG, LOOP, Rig};
use crate::rpc::{Limits, RpcConfig};

async fn refused(rig: &Rig, raw: String, code: i64, message: &str) {
    let failure = rig.fail("eth_sendRawTransaction", json!([raw])).await;
    assert_eq!(failure, (code, message.to_owned()));
}

#[tokio::test]
async fn transactions_are_refused_with_besus_codes() {
    let rig = Rig::start().await;
    refused(&rig, "0xdeadbeef".to_owned(), -32602, "Invalid block, unable to parse RLP").await;
    refused(&rig, "nohex".to_owned(), -32602, "Invalid block, unable to parse RLP").await;

    let fine = rig.transaction(0, LOG, &[]);
    let mut tx = fine.clone();
    tx.chain_id = 1;
    refused(&rig, rig.sign(tx), -32000, "Wrong chainId").await;
    let mut tx = fine.clone();
    tx.gas_limit = 20_000;
    refused(&rig, rig.sign(tx), -32003, "Intrinsic gas exceeds gas limit").await;
    let mut tx = fine.clone();
    tx.gas_limit = BLOCK_GAS_LIMIT + 1;
    refused(&rig, rig.sign(tx), -32005, "Transaction gas limit exceeds block gas limit").await;
    let mut tx = fine.clone();
    tx.value = U256::from(10).pow(U256::from(22));
    refused(&rig, rig.sign(tx), -32004, "Upfront cost exceeds account balance").await;
    let mut tx = fine.clone();
    tx.max_priority_fee_per_gas = 1;
    refused(&rig, rig.sign(tx), -32000, "Max priority fee per gas exceeds max fee per gas").await;
    let mut tx = fine.clone();
    tx.max_fee_per_gas = 2 * 10u128.pow(18);
    refused(&rig, rig.sign(tx), -32000, "Transaction fee cap exceeded").await;
    let mut tx = fine.clone();
    tx.nonce = 1000;
    let distant = "Transaction nonce is too distant from current sender nonce";
    refused(&rig, rig.sign(tx), -32000, distant).await;

    rig.get("eth_sendRawTransaction", json!([rig.sign(fine.clone())])).await;
    refused(&rig, rig.sign(fine.clone()), -32000, "Known transaction").await;
    rig.mine().await;
    let mut tx = fine.clone();
    tx.gas_limit += 1;
    refused(&rig, rig.sign(tx), -32001, "Nonce too low").await;

    let mut tx = rig.transaction(1, LOG, &[]);
    tx.max_fee_per_gas = 100;
    rig.get("eth_sendRawTransaction", json!([rig.sign(tx.clone())])).await;
    tx.max_fee_per_gas = 99;
    refused(&rig, rig.sign(tx), -32000, "Replacement transaction underpriced").await;
}

#[tokio::test]
async fn signatures_types_and_unprotected_transactions_are_checked() {
    let rig = Rig::start().await;
    let legacy = TxLegacy { chain_id: None, gas_limit: 30_000, to: TxKind::Call(LOG), ..TxLegacy::default() };
    let outcome = rig.call("eth_sendRawTransaction", json!([rig.sign_legacy(legacy)])).await;
    // Besu's pool takes them unless strict replay protection is on; ours says which it wants.
    if let Err(failure) = outcome {
        assert_eq!((failure.code, failure.message.as_str()), (-32000, "ChainId is required"));
    }
    // r = 0 recovers to nobody.
    let mut raw = alloy_primitives::hex::decode(rig.sign(rig.transaction(0, LOG, &[]))).unwrap();
    let length = raw.len();
    raw[length - 32..].fill(0xff);
    let raw = Bytes::from(raw).to_string();
    refused(&rig, raw, -32002, "Invalid signature").await;
}

#[tokio::test]
async fn parameters_are_named_when_they_are_wrong() {
    let rig = Rig::start().await;
    let user = rig.user.address();
    for (method, params, message) in [
        ("eth_getBalance", json!(["0x12"]), "Invalid address params"),
        ("eth_getBalance", json!([user, "newest"]), "Invalid block number params"),
        ("eth_getBalance", json!({ "address": user }), "Invalid params"),
        ("eth_getBalance", json!([1, 2, 3, 4, 5]), "Invalid number of params"),
        ("eth_getBlockByHash", json!(["0x12"]), "Invalid block hash params"),
        ("eth_getBlockByNumber", json!(["0x0", "yes"]), "Invalid return complete transaction params"),
        ("eth_getTransactionByHash", json!([7]), "Invalid transaction hash params"),
        ("eth_getTransactionByBlockNumberAndIndex", json!(["0x0", "x"]), "Invalid transaction index params"),
        ("eth_getStorageAt", json!([user, "x"]), "Invalid position params"),
        ("eth_getProof", json!([user, "x"]), "Invalid storage keys params"),
        ("eth_call", json!([{ "to": 5 }]), "Invalid call params"),
        ("eth_call", json!([{}, "latest", 5]), "Invalid account override params"),
        ("eth_call", json!([{ "to": LOG, "gasPrice": "0x1", "maxFeePerGas": "0x1" }]), "Invalid call params"),
        ("eth_feeHistory", json!([0, "latest"]), "Invalid block count params"),
        ("eth_feeHistory", json!([1025, "latest"]), "Invalid block count params"),
        ("eth_feeHistory", json!([1, "latest", [50, 20]]), "Invalid reward percentiles params"),
        ("eth_getLogs", json!([7]), "Invalid filter params"),
        ("eth_getLogs", json!([{ "fromBlock": "0x2", "toBlock": "0x1" }]), "Invalid params"),
        ("eth_getFilterChanges", json!(["x"]), "Invalid filter ID params"),
        ("web3_sha3", json!(["x"]), "Invalid data params"),
        ("debug_traceCall", json!([{}, "latest", { "tracer": "nothing" }]), "Invalid trace params"),
        ("ibft_getValidatorsByBlockNumber", json!(["newest"]), "Invalid block, unable to parse RLP"),
        ("ibft_getValidatorsByBlockHash", json!(["x"]), "Invalid block hash params"),
        ("ibft_proposeValidatorVote", json!(["x", true]), "Invalid address params"),
        ("ibft_proposeValidatorVote", json!([user, "x"]), "Invalid vote type params"),
        ("evm_increaseTime", json!(["soon"]), "Invalid timestamp params"),
        ("evm_mine", json!([{ "blocks": 5000 }]), "Invalid block count params"),
        ("evm_revert", json!(["x"]), "Invalid snapshot params"),
        ("chainnet_stopValidator", json!([7]), "Invalid validator params"),
    ] {
        let failure = rig.fail(method, params.clone()).await;
        assert_eq!(failure, (-32602, message.to_owned()), "{method} {params}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_told_so() {
    let rig = Rig::start().await;
    let hash = format!("0x{}", "33".repeat(32));
    for (method, params, code, message) in [
        ("eth_getBalance", json!([Address::ZERO, "0x99"]), -32000, "Block not found"),
        ("eth_call", json!([{ "to": LOG }, { "blockHash": hash }]), -32000, "Block not found"),
        ("eth_getLogs", json!([{ "blockHash": hash }]), -32000, "Block not found"),
        ("debug_traceTransaction", json!([hash]), -32000, "Transaction not found"),
        ("debug_getRawTransaction", json!([hash]), -32000, "Transaction not found"),
        ("debug_getRawBlock", json!(["0x99"]), -32000, "Block not found"),
        ("eth_getFilterChanges", json!(["0x99"]), -32000, "Filter not found"),
        ("ibft_getValidatorsByBlockNumber", json!(["finalized"]), -39001, "Unknown block"),
        ("eth_getWork", json!([]), -32000, "No mining work available yet"),
        ("eth_subscribe", json!(["newHeads"]), -32604, "Method not enabled"),
        ("chainnet_stopValidator", json!(["V9"]), -32000, "unknown validator `V9`"),
        ("net_enode", json!([]), -32000, "P2P has been disabled. This functionality is not available"),
    ] {
        assert_eq!(rig.fail(method, params).await, (code, message.to_owned()), "{method}");
    }
    let (code, message) = rig.fail("eth_sendTransaction", json!([{}])).await;
    assert_eq!(code, -32604);
    assert!(
        message.starts_with("The method eth_sendTransaction is not supported. Use eth_sendRawTransaction")
    );
}

#[tokio::test]
async fn simulations_are_refused_with_the_same_codes() {
    let rig = Rig::start().await;
    let user = rig.user.address();
    for (call, code, message) in [
        (json!({ "from": user, "to": LOG, "chainId": "0x1" }), -32000, "Wrong chainId"),
        (json!({ "from": user, "to": LOG, "gas": "0x10" }), -32003, "Intrinsic gas exceeds gas limit"),
        (
            json!({ "from": user, "to": LOG, "maxFeePerGas": "0x1", "maxPriorityFeePerGas": "0x2" }),
            -32000,
            "Max priority fee per gas exceeds max fee per gas",
        ),
        (
            json!({ "from": user, "to": user, "value": "0xffffffffffffffffffffffffffff" }),
            -32004,
            "Upfront cost exceeds account balance",
        ),
    ] {
        assert_eq!(rig.fail("eth_call", json!([call])).await, (code, message.to_owned()), "{call}");
    }
}

#[tokio::test]
async fn ranges_results_filters_and_traces_are_bounded() {
    let limits = Limits { max_log_range: 1, max_logs: 1, max_filters: 1, ..Limits::default() };
    let rig = Rig::start_with(RpcConfig { limits, ..RpcConfig::default() }).await;
    rig.send(0, LOG, &[]).await;
    rig.send(1, LOG, &[]).await;
    rig.mine().await;
    let too_many = rig.fail("eth_getLogs", json!([{ "fromBlock": "earliest" }])).await;
    assert_eq!(too_many, (-32005, "Query returned more than 1 results".to_owned()));
    let too_long = rig.fail("eth_getLogs", json!([{ "fromBlock": "0x0", "toBlock": "0x2" }])).await;
    assert_eq!(too_long, (-32005, "Requested range exceeds maximum RPC range limit".to_owned()));
    rig.get("eth_newBlockFilter", json!([])).await;
    let full = rig.fail("eth_newBlockFilter", json!([])).await;
    assert_eq!(full, (-32005, "Limit of filters or subscriptions reached".to_owned()));
    let trace = rig.fail("debug_traceCall", json!([{ "to": LOOP }, "latest"])).await;
    assert_eq!(trace.0, -32000, "{}", trace.1);
    assert_eq!(CHAIN_ID, rig.chain.spec().chain_id);
}
