//! What transactions must pay and may ask for, where the operator says so.

use alloy_consensus::{TxEip1559, TxLegacy};
use alloy_primitives::TxKind;
use serde_json::{Value, json};

use super::{ANSWER, CHAIN_ID, LOOP, Rig};
use crate::{pool::PoolLimits, rpc::RpcConfig};

const GWEI: u128 = 1_000_000_000;
const GWEI_HEX: &str = "0x3b9aca00";

/// A node that takes nothing below a gwei.
async fn priced() -> Rig {
    Rig::start_limited(RpcConfig::default(), PoolLimits { min_gas_price: GWEI, ..PoolLimits::default() })
        .await
}

fn legacy(nonce: u64, gas_price: u128) -> TxLegacy {
    TxLegacy {
        chain_id: Some(CHAIN_ID),
        nonce,
        gas_price,
        gas_limit: 100_000,
        to: TxKind::Call(ANSWER),
        ..TxLegacy::default()
    }
}

fn dynamic(rig: &Rig, nonce: u64, max_fee_per_gas: u128, max_priority_fee_per_gas: u128) -> TxEip1559 {
    TxEip1559 { max_fee_per_gas, max_priority_fee_per_gas, ..rig.transaction(nonce, ANSWER, &[]) }
}

async fn rewards(rig: &Rig) -> Value {
    rig.get("eth_feeHistory", json!(["0x2", "latest", [10, 90]])).await["reward"].clone()
}

#[tokio::test]
async fn a_node_with_a_minimum_price_suggests_it() {
    let rig = priced().await;
    for method in ["eth_gasPrice", "eth_maxPriorityFeePerGas"] {
        assert_eq!(rig.get(method, json!([])).await, GWEI_HEX, "{method}");
    }
    rig.mine().await;
    assert_eq!(rewards(&rig).await, json!([[GWEI_HEX, GWEI_HEX], [GWEI_HEX, GWEI_HEX]]));
    let free = Rig::start().await;
    free.mine().await;
    assert_eq!(free.get("eth_gasPrice", json!([])).await, "0x0");
    assert_eq!(rewards(&free).await, json!([["0x0", "0x0"], ["0x0", "0x0"]]));
}

#[tokio::test]
async fn a_cheaper_transaction_is_refused_in_besus_words() {
    let rig = priced().await;
    let refusal = (-32009, "Gas price below configured minimum gas price".to_owned());
    // Without a base fee the proposer gets the tip and no more, whatever the fee cap says.
    for cheap in [
        rig.sign_legacy(legacy(0, GWEI - 1)),
        rig.sign(dynamic(&rig, 0, GWEI - 1, GWEI - 1)),
        rig.sign(dynamic(&rig, 0, 5 * GWEI, GWEI - 1)),
    ] {
        assert_eq!(rig.fail("eth_sendRawTransaction", json!([cheap])).await, refusal);
    }
    let paid = rig.sign_legacy(legacy(0, GWEI));
    rig.get("eth_sendRawTransaction", json!([paid])).await;
    let tipped = rig.sign(dynamic(&rig, 1, 2 * GWEI, GWEI));
    rig.get("eth_sendRawTransaction", json!([tipped])).await;
    rig.mine().await;
    assert_eq!(rig.chain.head().receipts.len(), 2);
}

#[tokio::test]
async fn more_gas_than_a_transaction_may_have_is_refused() {
    let rig = Rig::start().await;
    let with_gas = |gas_limit| rig.sign(TxEip1559 { gas_limit, ..rig.transaction(0, ANSWER, &[]) });
    let (code, message) = rig.fail("eth_sendRawTransaction", json!([with_gas(16_777_217)])).await;
    let expected = "Transaction gas limit exceeds transaction gas cap of 16777216";
    assert_eq!((code, message.as_str()), (-32000, expected));
    rig.get("eth_sendRawTransaction", json!([with_gas(16_777_216)])).await;
}

#[tokio::test]
async fn who_sends_what_does_not_end_is_told_to_wait() {
    let rig = Rig::start().await;
    // The pool is told here what block production tells it.
    let hash = rig.send(0, LOOP, &[]).await;
    let endless = rig.chain.pool().get(hash.as_str().unwrap().parse().unwrap()).unwrap();
    rig.chain.pool().suspend(&endless, 1);
    assert_eq!(rig.get("eth_getTransactionByHash", json!([hash])).await, Value::Null);
    let again = rig.sign(rig.transaction(0, ANSWER, &[]));
    let expected = "Sender is suspended until block 61: a transaction of it took too long to execute";
    assert_eq!(rig.fail("eth_sendRawTransaction", json!([again])).await, (-32000, expected.to_owned()));
}
