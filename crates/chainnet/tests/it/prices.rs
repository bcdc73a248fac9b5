//! What gas costs on which network, and who says so.

use alloy_primitives::{Address, Bytes};
use domain::Network;
use serde_json::{Value, json};
use testkit::{CallError, Draft, NodeProcess, Wallet};

use crate::rig::node;

const GWEI_HEX: &str = "0x3b9aca00";

async fn price(node: &NodeProcess) -> Value {
    node.client().call("eth_gasPrice", json!([])).await.expect("a price")
}

/// Sends a call of nobody that pays nothing.
async fn send_free(node: &NodeProcess, network: Network) -> Result<(), (i64, String)> {
    let mut wallet = Wallet::dev(0).on_chain(network.chain_id());
    let draft = Draft { gas_price: 0, ..Draft::call(Address::repeat_byte(0xb0), Bytes::new()) };
    match node.client().send_raw(&wallet.sign_legacy(draft).raw).await {
        Ok(_) => Ok(()),
        Err(CallError::Rpc(error)) => Err((error.code, error.message)),
        Err(other) => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn gas_is_free_on_devnet_and_has_a_price_elsewhere() {
    let devnet = node(["--on-demand"]).await;
    assert_eq!(price(&devnet).await, "0x0");
    assert_eq!(send_free(&devnet, Network::Devnet).await, Ok(()));

    let testnet = node(["--network", "testnet", "--on-demand"]).await;
    assert_eq!(price(&testnet).await, GWEI_HEX);
    let tip: Value = testnet.client().call("eth_maxPriorityFeePerGas", json!([])).await.expect("a tip");
    assert_eq!(tip, GWEI_HEX);
    let refusal = (-32009, "Gas price below configured minimum gas price".to_owned());
    assert_eq!(send_free(&testnet, Network::Testnet).await, Err(refusal));
}

#[tokio::test]
async fn an_operator_may_say_otherwise() {
    let free = node(["--network", "testnet", "--on-demand", "--min-gas-price", "0"]).await;
    assert_eq!(price(&free).await, "0x0");
    assert_eq!(send_free(&free, Network::Testnet).await, Ok(()));

    let capped = node(["--on-demand", "--tx-gas-cap", "50000"]).await;
    let refusal = (-32000, "Transaction gas limit exceeds transaction gas cap of 50000".to_owned());
    assert_eq!(send_free(&capped, Network::Devnet).await, Err(refusal));
}
