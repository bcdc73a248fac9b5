//! Chain, blocks, transactions, accounts and networks.

use alloy_primitives::{Bytes, TxKind, U256};
use alloy_sol_types::SolCall;
use contracts::{PlatformFees, address::FEES, fees::FeeSource};
use serde_json::{Value, json};
use store::testing::TestDb;

use crate::rig::{FRIEND, Rig, on_both_engines};

on_both_engines! {
    the_chain_is_told_at_its_head,
    a_block_is_found_by_decimal_hex_and_hash_and_never_changes,
    transactions_of_a_block_are_expanded_on_request,
    genesis_has_no_proposer,
    a_transaction_is_pending_and_then_final,
    a_call_is_named_and_a_revert_explained,
    a_contract_that_is_created_has_its_address_in_the_answer,
    accounts_are_told_with_what_the_network_knows_of_them,
    networks_are_told_from_the_deployment_record,
    without_a_node_final_answers_stay_and_others_are_refused,
    a_chain_that_went_back_takes_its_answers_with_it,
    a_search_says_what_a_text_is,
}

const ALICE: &str = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// The names of an object's members, sorted.
fn members(value: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}

fn pay(source: FeeSource) -> Bytes {
    PlatformFees::payCall { source: source.id(), r#ref: Default::default() }.abi_encode().into()
}

async fn the_chain_is_told_at_its_head(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.mine().await;
    let reply = rig.get("/api/v1/chain").await;
    assert_eq!(reply.header("cache-control"), Some("public, max-age=1"));
    let chain = reply.json();
    assert_eq!(chain["chainId"], 8845);
    assert_eq!(chain["chainIdHex"], "0x228d");
    assert_eq!(chain["consensus"], "IBFT 2.0");
    assert_eq!(chain["blockNumber"], 1);
    assert_eq!(chain["latestBlock"]["hash"], rig.head_hash().to_string());
    assert_eq!(chain["validatorCount"], 5);
    assert_eq!(chain["totalStaked"], "500000");
    assert_eq!(chain["totalStakedWei"], "500000000000000000000000");
    assert_eq!(chain["nativeCurrency"]["symbol"], "PNC");
    rig.mine().await;
    assert_eq!(rig.get("/api/v1/chain").await.json()["blockNumber"], 2, "not kept beyond its head");
}

async fn a_block_is_found_by_decimal_hex_and_hash_and_never_changes(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.transfer(0, 0, 1);
    rig.mine().await;
    let latest = rig.get("/api/v1/blocks/latest").await.json();
    let hash = latest["hash"].as_str().unwrap().to_owned();
    for name in ["1", "0x1", "01", &hash] {
        let reply = rig.get(&format!("/api/v1/blocks/{name}")).await;
        assert_eq!(reply.header("cache-control"), Some(IMMUTABLE), "{name}");
        assert_eq!(reply.json(), latest, "{name}");
    }
    assert_eq!(
        members(&latest),
        [
            "baseFeePerGas",
            "committers",
            "extraData",
            "gasLimit",
            "gasUsed",
            "hash",
            "number",
            "parentHash",
            "proposer",
            "proposerMoniker",
            "receiptsRoot",
            "round",
            "size",
            "stateRoot",
            "timestamp",
            "transactionCount",
            "transactions",
            "transactionsRoot",
            "validators",
            "vote",
        ]
    );
    assert_eq!(
        (&latest["transactionCount"], &latest["round"], &latest["vote"]),
        (&json!(1), &json!(0), &Value::Null)
    );
    assert!(latest["committers"].as_array().unwrap().len() >= 4, "a quorum of five");
    assert!(latest["proposerMoniker"].as_str().unwrap().starts_with("Validator "));
    assert!(latest["timestamp"].as_str().unwrap().ends_with('Z'));
}

async fn transactions_of_a_block_are_expanded_on_request(test: &TestDb) {
    let rig = Rig::new(test).await;
    let hash = rig.transfer(0, 0, 1).to_string();
    rig.mine().await;
    for path in ["/api/v1/blocks/latest", "/api/v1/blocks/1"] {
        let short = rig.get(path).await.json();
        assert_eq!(short["transactions"], json!([hash]));
        let expanded = rig.get(&format!("{path}?include=transactions")).await.json();
        assert_eq!(expanded["transactions"][0]["hash"], hash);
        assert_eq!(
            expanded["transactions"][0],
            rig.get(&format!("/api/v1/transactions/{hash}")).await.json()
        );
    }
}

async fn genesis_has_no_proposer(test: &TestDb) {
    let rig = Rig::new(test).await;
    let genesis = rig.get("/api/v1/blocks/0").await.json();
    assert_eq!((&genesis["proposer"], &genesis["proposerMoniker"]), (&Value::Null, &Value::Null));
    assert_eq!(genesis["validators"].as_array().unwrap().len(), 5);
}

async fn a_transaction_is_pending_and_then_final(test: &TestDb) {
    let rig = Rig::new(test).await;
    let path = format!("/api/v1/transactions/{}", rig.transfer(0, 0, 3));
    let pending = rig.get(&path).await;
    assert_eq!(pending.header("cache-control"), Some("public, max-age=1"));
    let pending = pending.json();
    assert_eq!(
        (&pending["status"], &pending["blockNumber"], &pending["receipt"]),
        (&json!("pending"), &Value::Null, &Value::Null)
    );
    rig.mine().await;
    let mined = rig.get(&path).await;
    assert_eq!(mined.header("cache-control"), Some(IMMUTABLE));
    let mined = mined.json();
    assert_eq!(members(&mined), members(&pending), "nothing is left out while it waits");
    assert_eq!(
        (&mined["status"], &mined["type"], &mined["index"]),
        (&json!("success"), &json!(2), &json!(0))
    );
    assert_eq!((&mined["from"], &mined["to"]), (&json!(ALICE), &json!(FRIEND)));
    assert_eq!((&mined["value"], &mined["valueWei"]), (&json!("3"), &json!("3000000000000000000")));
    assert_eq!((&mined["gasUsed"], &mined["receipt"]["status"]), (&json!(21000), &json!(1)));
    assert_eq!((&mined["method"], &mined["revertReason"]), (&Value::Null, &Value::Null));
}

async fn a_call_is_named_and_a_revert_explained(test: &TestDb) {
    let rig = Rig::new(test).await;
    let paid = rig.send(0, 0, TxKind::Call(FEES), U256::from(100), pay(FeeSource::Bridge));
    let refused = rig.send(0, 1, TxKind::Call(FEES), U256::ZERO, pay(FeeSource::Bridge));
    rig.mine().await;
    let paid = rig.get(&format!("/api/v1/transactions/{paid}")).await.json();
    assert_eq!(paid["method"]["signature"], "pay(bytes32,bytes32)");
    assert_eq!(paid["receipt"]["logs"].as_array().unwrap().len(), 1);
    let refused = rig.get(&format!("/api/v1/transactions/{refused}")).await.json();
    assert_eq!((&refused["status"], &refused["receipt"]["status"]), (&json!("failed"), &json!(0)));
    assert_eq!(refused["revertReason"], "PlatformFeesZeroAmount()");
}

async fn a_contract_that_is_created_has_its_address_in_the_answer(test: &TestDb) {
    let rig = Rig::new(test).await;
    let hash =
        rig.send(0, 0, TxKind::Create, U256::ZERO, Bytes::from_static(&[0x60, 0x00, 0x60, 0x00, 0xf3]));
    rig.mine().await;
    let tx = rig.get(&format!("/api/v1/transactions/{hash}")).await.json();
    assert_eq!((&tx["to"], &tx["method"]), (&Value::Null, &Value::Null));
    assert!(tx["contractAddress"].as_str().unwrap().starts_with("0x"));
}

async fn accounts_are_told_with_what_the_network_knows_of_them(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.transfer(0, 0, 3);
    rig.mine().await;
    let friend = rig.get(&format!("/api/v1/accounts/{}", FRIEND.to_lowercase())).await.json();
    assert_eq!((&friend["address"], &friend["balance"]), (&json!(FRIEND), &json!("3")));
    assert_eq!(
        (&friend["isContract"], &friend["label"], &friend["validator"]),
        (&json!(false), &Value::Null, &Value::Null)
    );
    assert_eq!(rig.get(&format!("/api/v1/accounts/{ALICE}")).await.json()["transactionCount"], 1);
    let fees = rig.get(&format!("/api/v1/accounts/{FEES}")).await.json();
    assert_eq!((&fees["isContract"], &fees["label"]), (&json!(true), &json!("PlatformFees")));
    let validator = rig.get(&format!("/api/v1/accounts/{}", crate::rig::first_validator())).await.json();
    assert_eq!(validator["validator"]["moniker"], "Validator 1");
    let wrong_checksum = ALICE.replace("f39F", "F39F");
    let refusal = rig.get(&format!("/api/v1/accounts/{wrong_checksum}")).await.refusal();
    assert_eq!(refusal, (400, "invalid_address".to_owned()));
}

async fn networks_are_told_from_the_deployment_record(test: &TestDb) {
    let rig = Rig::new(test).await;
    let network = rig.get("/api/v1/network").await.json();
    assert_eq!((&network["network"], &network["chainIdHex"]), (&json!("devnet"), &json!("0x228d")));
    assert_eq!(
        members(&network["wallet"]),
        ["blockExplorerUrls", "chainId", "chainName", "nativeCurrency", "rpcUrls"],
        "what EIP-3085 has and nothing else"
    );
    let contracts = rig.get("/api/v1/network/contracts").await.json();
    assert_eq!(contracts["contracts"]["PlatformFees"], FEES.to_checksum(None));
    let all = rig.get("/api/v1/network/all").await.json();
    let ids: Vec<&Value> =
        all["networks"].as_array().unwrap().iter().map(|network| &network["chainId"]).collect();
    assert_eq!(ids, [8845, 8847, 8846]);
    assert_eq!(all["active"], "devnet");
}

async fn without_a_node_final_answers_stay_and_others_are_refused(test: &TestDb) {
    let rig = Rig::new(test).await;
    rig.mine().await;
    let (block, chain) = ("/api/v1/blocks/1", "/api/v1/chain");
    let kept = rig.get(block).await;
    rig.get(chain).await;
    rig.node.cut(true);
    assert_eq!(rig.get(block).await.body, kept.body);
    for path in [chain, "/api/v1/blocks/latest", "/api/v1/validators", "/api/v1/blocks/0"] {
        let refused = rig.get(path).await;
        assert_eq!(refused.refusal(), (503, "chain_unavailable".to_owned()), "{path}");
        assert_eq!(refused.header("retry-after"), Some("2"));
    }
    assert_eq!(rig.get("/health").await.status, 200);
    assert_eq!(rig.get("/ready").await.status, 503);
    rig.node.cut(false);
    assert_eq!(rig.get(chain).await.status, 200);
    assert_eq!(rig.get("/ready").await.json()["status"], "ready");
    rig.edge.drain();
    let draining = rig.get("/ready").await;
    assert_eq!((draining.status.as_u16(), &draining.json()["status"]), (503, &"draining".into()));
    assert_eq!(draining.headers["connection"], "close");
    assert_eq!(rig.get("/health").await.status, 200);
}

async fn a_chain_that_went_back_takes_its_answers_with_it(test: &TestDb) {
    let rig = Rig::new(test).await;
    let snapshot = rig.control.snapshot().await.unwrap();
    rig.transfer(0, 0, 1);
    rig.control.mine(None).await.unwrap();
    let before = rig.get("/api/v1/blocks/1").await.json();
    assert!(rig.control.revert(snapshot).await.unwrap());
    rig.control.mine(None).await.unwrap();
    let after = rig.get("/api/v1/blocks/1").await.json();
    assert_ne!(before["hash"], after["hash"]);
}

async fn a_search_says_what_a_text_is(test: &TestDb) {
    let rig = Rig::new(test).await;
    let tx = rig.transfer(0, 0, 1).to_string();
    rig.mine().await;
    let block = rig.head_hash().to_string();
    let validator = crate::rig::first_validator().to_checksum(None);
    for (query, kind, id) in [
        ("1", "block", "1"),
        ("0x1", "block", "1"),
        (block.as_str(), "block", "1"),
        (tx.as_str(), "transaction", tx.as_str()),
        (FRIEND, "account", FRIEND),
        ("dator+1", "validator", validator.as_str()),
    ] {
        let found = rig.get(&format!("/api/v1/search?q={query}")).await.json();
        assert_eq!(
            (&found["results"][0]["kind"], &found["results"][0]["id"]),
            (&json!(kind), &json!(id)),
            "{query}"
        );
        let path = found["results"][0]["path"].as_str().unwrap();
        assert_eq!(rig.get(path).await.status, 200, "{path}");
    }
    for query in ["999", "nobody", "0xzz"] {
        assert_eq!(
            rig.get(&format!("/api/v1/search?q={query}")).await.json()["results"],
            json!([]),
            "{query}"
        );
    }
}
