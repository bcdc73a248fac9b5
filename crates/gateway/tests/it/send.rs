//! Transactions that no node gets to see.

use std::sync::Arc;

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, hex};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use chain::remote::{RemoteClient, RemoteConfig};
use chainnet_gateway::GatewayConfig;
use domain::devnet;
use serde_json::json;
use testkit::{Besu, BesuSettings};

use crate::{
    front::{Front, open},
    recorder::Recorder,
    world::{CHAIN_ID, World},
};

const GWEI: u128 = 1_000_000_000;
const CAP: u64 = 16_777_216;

fn priced() -> GatewayConfig {
    GatewayConfig { min_gas_price: 1_000_000_000, ..open() }
}

/// A transaction with this gas limit, fee cap and tip.
fn signed(nonce: u64, gas_limit: u64, most: u128, tip: u128) -> String {
    let signer = PrivateKeySigner::from_bytes(&devnet::ACCOUNTS[3].key).unwrap();
    let tx = TxEip1559 {
        chain_id: CHAIN_ID,
        nonce,
        gas_limit,
        max_fee_per_gas: most,
        max_priority_fee_per_gas: tip,
        to: Address::repeat_byte(0xaa).into(),
        ..TxEip1559::default()
    };
    let signature = signer.sign_hash_sync(&tx.signature_hash()).unwrap();
    hex::encode_prefixed(TxEnvelope::from(tx.into_signed(signature)).encoded_2718())
}

/// Asks for what must be refused, and for what must not.
async fn check_refusals(front: &Front) {
    let send = async |raw: String| front.call("eth_sendRawTransaction", json!([raw])).await;
    let large = send(signed(0, CAP + 1, GWEI, GWEI)).await;
    assert_eq!(large.refusal(), (200, -32000, "exceeds_transaction_gas_cap".to_owned()));
    let error = &large.json()["error"];
    assert_eq!(error["message"], "Transaction gas limit exceeds transaction gas cap of 16777216");
    assert_eq!(error["data"]["cap"], CAP);
    for (most, tip) in [(0, 0), (GWEI - 1, GWEI - 1), (5 * GWEI, GWEI - 1)] {
        let cheap = send(signed(0, 21_000, most, tip)).await;
        assert_eq!(cheap.refusal(), (200, -32009, "gas_price_too_low".to_owned()), "{most} {tip}");
        assert_eq!(cheap.json()["error"]["data"]["minGasPriceWei"], "1000000000");
    }
    for nonsense in ["0x", "0x02", "nonsense", "0xf86c"] {
        let refusal = send(nonsense.to_owned()).await.refusal();
        assert_eq!(refusal, (200, -32602, "bad_transaction".to_owned()), "{nonsense}");
    }
}

#[tokio::test]
async fn too_much_gas_and_too_low_a_price_do_not_reach_a_node() {
    let world = World::new();
    let recorder = Recorder::over(world.in_process());
    let front = Front::new(priced(), recorder.clone()).await;
    check_refusals(&front).await;
    assert_eq!(recorder.asked("eth_sendRawTransaction"), 0);
    front.ask("eth_sendRawTransaction", json!([signed(0, CAP, GWEI, GWEI)])).await;
    assert_eq!(recorder.asked("eth_sendRawTransaction"), 1);
}

#[tokio::test]
async fn the_same_is_refused_in_front_of_besu() {
    let world = World::new();
    let (port, _node) = world.port().await;
    for settings in [BesuSettings::v24_5_4(), BesuSettings::v24_12_2()] {
        let besu = Besu::start(port, settings).await.unwrap();
        let remote =
            RemoteClient::connect(&[besu.url().parse().unwrap()], RemoteConfig::default()).await.unwrap();
        let front = Front::new(priced(), Arc::new(remote)).await;
        front.ready().await;
        check_refusals(&front).await;
        assert!(world.chain.pool().is_empty());
        // Old ones do not know the second, and this chain asks for nothing.
        for method in ["eth_gasPrice", "eth_maxPriorityFeePerGas"] {
            assert_eq!(front.ask(method, json!([])).await, "0x3b9aca00", "{method}");
        }
    }
}
