//! Blocks, headers, raw encodings, validators and what the node says of itself.

use alloy_consensus::Header;
use alloy_primitives::{Address, Bytes, hex, keccak256};
use alloy_rlp::Decodable;
use serde_json::{Value, json};

use super::{ANSWER, CHAIN_ID, LOG, Rig};

#[tokio::test]
async fn a_sealed_block_shows_besus_fields_and_the_on_chain_hash() {
    let rig = Rig::start().await;
    rig.mine().await;
    let head = rig.chain.head();
    let block = rig.get("eth_getBlockByNumber", json!(["latest", false])).await;
    assert_eq!(block["number"], "0x1");
    assert_eq!(block["hash"], json!(head.block.hash));
    assert_ne!(head.block.hash, head.block.header.hash_slow());
    assert_eq!(block["totalDifficulty"], "0x2");
    assert_eq!(block["difficulty"], "0x1");
    assert_eq!(block["nonce"], "0x0000000000000000");
    assert_eq!(block["miner"], json!(rig.validator));
    assert_eq!(block["baseFeePerGas"], "0x0");
    assert_eq!(block["uncles"], json!([]));
    assert!(block.get("withdrawals").is_none() && block.get("withdrawalsRoot").is_none());
    let raw: Bytes = serde_json::from_value(rig.get("debug_getRawBlock", json!(["latest"])).await).unwrap();
    assert_eq!(block["size"], format!("{:#x}", raw.len()));
    let by_hash = rig.get("eth_getBlockByHash", json!([block["hash"], false])).await;
    assert_eq!(by_hash, block);
    for tag in ["safe", "finalized", "pending", "1", "0x1"] {
        assert_eq!(rig.get("eth_getBlockByNumber", json!([tag, false])).await, block, "{tag}");
    }
    assert_eq!(rig.get("eth_getBlockByNumber", json!(["0x2", false])).await, Value::Null);
    assert_eq!(rig.get("eth_getBlockByNumber", json!(["earliest"])).await["number"], "0x0");
}

#[tokio::test]
async fn raw_encodings_decode_to_what_the_header_commits_to() {
    let rig = Rig::start().await;
    let hash = rig.send(0, LOG, &[1, 2, 3]).await;
    rig.mine().await;
    let header = rig.get("debug_getRawHeader", json!(["0x1"])).await;
    let header = hex::decode(header.as_str().unwrap()).unwrap();
    assert_eq!(Header::decode(&mut header.as_slice()).unwrap(), rig.chain.head().block.header);
    let raw = rig.get("debug_getRawTransaction", json!([hash])).await;
    assert_eq!(json!(keccak256(hex::decode(raw.as_str().unwrap()).unwrap())), hash);
    let receipts = rig.get("debug_getRawReceipts", json!(["0x1"])).await;
    assert!(receipts[0].as_str().unwrap().starts_with("0x02"));
}

#[tokio::test]
async fn counts_uncles_and_miner_data_are_answered_by_number_and_hash() {
    let rig = Rig::start().await;
    rig.send(0, LOG, &[]).await;
    rig.mine().await;
    let hash = json!(rig.chain.head().block.hash);
    let unknown = json!(format!("0x{}", "11".repeat(32)));
    for (suffix, known, missing) in [("Number", json!("0x1"), json!("0x9")), ("Hash", hash, unknown)] {
        let count = format!("eth_getBlockTransactionCountBy{suffix}");
        assert_eq!(rig.get(&count, json!([known])).await, "0x1");
        assert_eq!(rig.get(&count, json!([missing])).await, Value::Null);
        let uncles = format!("eth_getUncleCountByBlock{suffix}");
        assert_eq!(rig.get(&uncles, json!([known])).await, "0x0");
        assert_eq!(rig.get(&uncles, json!([missing])).await, Value::Null);
        let uncle = format!("eth_getUncleByBlock{suffix}AndIndex");
        assert_eq!(rig.get(&uncle, json!([known, "0x0"])).await, Value::Null);
        let miner = rig.get(&format!("eth_getMinerDataByBlock{suffix}"), json!([known])).await;
        assert_eq!(miner["coinbase"], json!(rig.validator));
        assert_eq!(miner["transactionFee"], "0x0");
        assert_eq!(miner["totalDifficulty"], "0x2");
    }
}

#[tokio::test]
async fn validators_and_their_proposals_are_listed() {
    let rig = Rig::start().await;
    let validators = json!([rig.validator]);
    let failed = rig.fail("ibft_getSignerMetrics", json!([])).await;
    assert_eq!(failed, (-32602, "Invalid block number params".to_owned()));
    for _ in 0..3 {
        rig.mine().await;
    }
    for block in ["latest", "earliest", "pending", "0x1", "2"] {
        assert_eq!(rig.get("ibft_getValidatorsByBlockNumber", json!([block])).await, validators, "{block}");
    }
    assert_eq!(rig.get("ibft_getValidatorsByBlockNumber", json!(["99"])).await, Value::Null);
    let hash = rig.chain.head().block.hash;
    assert_eq!(rig.get("ibft_getValidatorsByBlockHash", json!([hash])).await, validators);
    assert_eq!(
        rig.get("ibft_getSignerMetrics", json!(["1", "100"])).await,
        json!([{ "address": rig.validator, "proposedBlockCount": "0x2", "lastProposedBlockNumber": "0x2" }])
    );
}

/// As recorded on Besu 24.12.2: the end is not part of the range, and neither is the head, whichever way it is named.
#[tokio::test]
async fn signer_metrics_leave_out_the_head() {
    let rig = Rig::start().await;
    for _ in 0..3 {
        rig.mine().await;
    }
    let proposed = |count: &str, last: &str| json!({ "address": rig.validator, "proposedBlockCount": count, "lastProposedBlockNumber": last });
    let genesis =
        json!({ "address": Address::ZERO, "proposedBlockCount": "0x1", "lastProposedBlockNumber": "0x0" });
    for (params, metrics) in [
        (json!([]), json!([genesis, proposed("0x2", "0x2")])),
        (json!(["earliest", "latest"]), json!([genesis, proposed("0x2", "0x2")])),
        (json!(["0x1"]), json!([proposed("0x2", "0x2")])),
        (json!(["0x1", "latest"]), json!([proposed("0x2", "0x2")])),
        (json!(["0x1", "pending"]), json!([proposed("0x2", "0x2")])),
        (json!(["0x1", "0x3"]), json!([proposed("0x2", "0x2")])),
        (json!(["0x1", "0x75"]), json!([proposed("0x2", "0x2")])),
        (json!(["0x1", "0x2"]), json!([proposed("0x1", "0x1")])),
    ] {
        assert_eq!(rig.get("ibft_getSignerMetrics", params.clone()).await, metrics, "{params}");
    }
    let failed = rig.fail("ibft_getSignerMetrics", json!(["0x3", "0x1"])).await;
    assert_eq!(failed, (-32602, "Invalid block number params".to_owned()));
}

#[tokio::test]
async fn the_node_says_what_it_is() {
    let rig = Rig::start().await;
    for (method, answer) in [
        ("eth_chainId", json!(format!("{CHAIN_ID:#x}"))),
        ("net_version", json!(CHAIN_ID.to_string())),
        ("eth_blockNumber", json!("0x0")),
        ("eth_accounts", json!([])),
        ("eth_coinbase", json!(rig.validator)),
        ("eth_mining", json!(true)),
        ("eth_syncing", json!(false)),
        ("eth_hashrate", json!("0x0")),
        ("eth_submitWork", json!(false)),
        ("eth_submitHashrate", json!(false)),
        ("eth_protocolVersion", json!("0x44")),
        ("eth_gasPrice", json!("0x0")),
        ("eth_maxPriorityFeePerGas", json!("0x0")),
        ("eth_blobBaseFee", json!("0x0")),
        ("net_listening", json!(true)),
        ("net_peerCount", json!("0x0")),
        ("net_services", json!({})),
    ] {
        assert_eq!(rig.get(method, json!([])).await, answer, "{method}");
    }
    assert!(rig.get("web3_clientVersion", json!([])).await.as_str().unwrap().starts_with("chainnet/v"));
    assert_eq!(rig.get("web3_sha3", json!(["0x68656c6c6f"])).await, json!(keccak256("hello")));
}

#[tokio::test]
async fn state_is_read_at_any_block_named_in_any_way() {
    let rig = Rig::start().await;
    let user = rig.user.address();
    let before = rig.get("eth_getBalance", json!([user, "latest"])).await;
    let mut transfer = rig.transaction(0, ANSWER, &[]);
    transfer.value = alloy_primitives::U256::from(5);
    rig.get("eth_sendRawTransaction", json!([rig.sign(transfer)])).await;
    rig.mine().await;
    assert_ne!(rig.get("eth_getBalance", json!([user])).await, before);
    let genesis = json!(rig.chain.genesis_hash());
    let at_genesis = [
        json!("0x0"),
        json!("0"),
        json!("earliest"),
        json!({ "blockNumber": "0x0" }),
        json!({ "blockHash": genesis, "requireCanonical": true }),
        genesis,
    ];
    for block in at_genesis {
        assert_eq!(rig.get("eth_getBalance", json!([user, block])).await, before, "{block}");
        assert_eq!(rig.get("eth_getTransactionCount", json!([user, block])).await, "0x0");
    }
    assert_eq!(rig.get("eth_getBalance", json!([ANSWER])).await, "0x5");
    assert_eq!(rig.get("eth_getCode", json!([ANSWER, "latest"])).await, "0x602a60005260206000f3");
    assert_eq!(rig.get("eth_getCode", json!([user, "latest"])).await, "0x");
    let slot = rig.get("eth_getStorageAt", json!([ANSWER, "0x5", "latest"])).await;
    assert_eq!(slot, format!("0x{:064x}", 7));
    let proof = rig.get("eth_getProof", json!([ANSWER, ["0x5"], "latest"])).await;
    assert_eq!(proof["balance"], "0x5");
    assert_eq!(proof["storageProof"][0]["value"], "0x7");
    assert!(!proof["accountProof"].as_array().unwrap().is_empty());
}
