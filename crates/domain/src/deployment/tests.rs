//! What a record must be, and how refusals name the key.

use serde_json::{Value, json};

use super::*;

fn record() -> Value {
    serde_json::from_str(include_str!("../../../../deployments/testnet.json")).unwrap()
}

fn read(record: &Value) -> Result<Deployment, DeploymentError> {
    Deployment::from_json(Network::Testnet, &record.to_string())
}

/// The refusal of a record in which one value was changed.
fn refusal(pointer: &str, value: Value) -> String {
    let mut record = record();
    *record.pointer_mut(pointer).unwrap() = value;
    read(&record).unwrap_err().to_string()
}

#[test]
fn a_record_tells_everything_a_wallet_needs() {
    let deployment = read(&record()).unwrap();
    assert_eq!(deployment.chain_id, 8847);
    assert_eq!(
        serde_json::to_value(&deployment.wallet).unwrap(),
        json!({
            "chainId": "0x228f",
            "chainName": "Platform Public Testnet",
            "nativeCurrency": { "name": "Platform Network Coin", "symbol": "PNC", "decimals": 18 },
            "rpcUrls": ["http://127.0.0.1:8555"],
            "blockExplorerUrls": ["http://127.0.0.1:3000"],
        })
    );
}

#[test]
fn every_bad_value_is_named_by_its_key() {
    for (pointer, value, key, reason) in [
        ("/network", json!("moonnet"), "network", "moonnet"),
        ("/network", json!("devnet"), "network", "expected `testnet`"),
        ("/chainId", json!(8845), "chainId", "expected `8847`"),
        ("/chainId", json!("8847"), "chainId", "expected u64"),
        ("/wallet/chainId", json!("0x2287"), "wallet.chainId", "expected `0x228f`"),
        ("/wallet/nativeCurrency/decimals", json!(6), "wallet.nativeCurrency.decimals", "expected `18`"),
        ("/wallet/rpcUrls", json!([]), "wallet.rpcUrls", "empty"),
        ("/wallet/rpcUrls/0", json!("http://rpc.example.org"), "wallet.rpcUrls", "https"),
        ("/urls/explorer", json!("http://10.0.0.1"), "urls.explorer", "https"),
        ("/urls/faucet", json!("faucet"), "urls.faucet", "not a URL"),
        ("/rpcUrl", json!(8545), "rpcUrl", "expected"),
        ("/rpcUrl", json!(""), "rpcUrl", "not a URL"),
        ("/rpcUrl", json!("http://a:1,ftp://b:2"), "rpcUrl", "http, https, ws, wss"),
        ("/validators", json!(0), "validators", "empty"),
        ("/access", json!(" "), "access", "empty"),
        (
            "/contracts/Multicall3",
            json!("0xca11bde05977b3631167028862be2a173976ca11"),
            "contracts.Multicall3",
            "EIP-55",
        ),
        ("/contracts/Treasury", json!("0x12"), "contracts.Treasury", "EIP-55"),
    ] {
        let refusal = refusal(pointer, value);
        assert!(refusal.contains(&format!("key `{key}`")) && refusal.contains(reason), "{refusal}");
    }
}

#[test]
fn all_contradictions_are_told_at_once() {
    let mut record = record();
    record["chainId"] = json!(1);
    record["validators"] = json!(0);
    record["urls"]["api"] = json!("http://api.example.org");
    assert_eq!(read(&record).unwrap_err().problems().len(), 3);
}

#[test]
fn unknown_and_missing_keys_are_refused() {
    let mut unknown = record();
    unknown["wallet"]["iconUrls"] = json!([]);
    let refusal = read(&unknown).unwrap_err().to_string();
    assert!(refusal.contains("wallet") && refusal.contains("iconUrls"), "{refusal}");
    for key in ["rpcUrl", "startBlock", "contracts"] {
        let mut missing = record();
        missing.as_object_mut().unwrap().remove(key);
        let refusal = read(&missing).unwrap_err().to_string();
        assert!(refusal.contains(&format!("missing field `{key}`")), "{refusal}");
    }
    let twice = format!("{} {{}}", record());
    assert!(Deployment::from_json(Network::Testnet, &twice).is_err(), "something after the record");
    assert!(Deployment::from_json(Network::Testnet, "").is_err());
}

#[test]
fn a_node_in_a_private_network_may_be_read_without_encryption() {
    let mut record = record();
    record["rpcUrl"] = json!("http://besu-1:8545");
    assert_eq!(read(&record).unwrap().rpc_url.unwrap().as_str(), "http://besu-1:8545");
}

#[test]
fn a_record_may_name_several_nodes_with_both_their_addresses() {
    let nodes = "http://127.0.0.1:8565|ws://127.0.0.1:8566,http://127.0.0.1:8567|ws://127.0.0.1:8568";
    let mut record = record();
    record["rpcUrl"] = json!(nodes);
    assert_eq!(read(&record).unwrap().rpc_url.unwrap().as_str(), nodes);
}
