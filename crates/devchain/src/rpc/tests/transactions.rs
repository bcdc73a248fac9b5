//! A transaction from the pool to its receipt, fees and traces.

use alloy_primitives::{Address, hex};
use alloy_sol_types::{Revert, SolError};
use serde_json::{Value, json};

use super::{ANSWER, LOG, REVERT, Rig};

#[tokio::test]
async fn a_transaction_is_pending_then_mined_with_a_receipt() {
    let rig = Rig::start().await;
    let user = rig.user.address();
    let hash = rig.send(0, LOG, &[7]).await;
    let pending = rig.get("eth_getTransactionByHash", json!([hash])).await;
    assert_eq!(pending["hash"], hash);
    assert_eq!(pending["blockHash"], Value::Null);
    assert_eq!(rig.get("eth_getTransactionReceipt", json!([hash])).await, Value::Null);
    assert_eq!(rig.get("eth_getTransactionCount", json!([user, "pending"])).await, "0x1");
    assert_eq!(rig.get("eth_getTransactionCount", json!([user, "latest"])).await, "0x0");

    rig.mine().await;
    let mined = rig.get("eth_getTransactionByHash", json!([hash])).await;
    assert_eq!(mined["blockNumber"], "0x1");
    assert_eq!(mined["transactionIndex"], "0x0");
    assert_eq!(mined["from"], json!(user));
    assert_eq!(mined["gasPrice"], "0x0");
    let block_hash = rig.chain.head().block.hash;
    let by_number = rig.get("eth_getTransactionByBlockNumberAndIndex", json!(["0x1", "0x0"])).await;
    let by_hash = rig.get("eth_getTransactionByBlockHashAndIndex", json!([block_hash, "0x0"])).await;
    assert_eq!((&by_number, &by_hash), (&mined, &mined));
    assert_eq!(rig.get("eth_getTransactionByBlockNumberAndIndex", json!(["0x1", "0x1"])).await, Value::Null);

    let receipt = rig.get("eth_getTransactionReceipt", json!([hash])).await;
    assert_eq!(receipt["status"], "0x1");
    assert_eq!(receipt["type"], "0x2");
    assert_eq!(receipt["effectiveGasPrice"], "0x0");
    assert_eq!(receipt["blockHash"], json!(block_hash));
    assert_eq!(receipt["logs"][0]["address"], json!(LOG));
    assert_eq!(receipt["logs"][0]["data"], "0x07");
    assert_eq!(receipt["logs"][0]["logIndex"], "0x0");
    assert_eq!(receipt["contractAddress"], Value::Null);
    assert!(receipt.get("revertReason").is_none());
    assert_eq!(rig.get("eth_getBlockReceipts", json!(["latest"])).await, json!([receipt]));
    let full = rig.get("eth_getBlockByNumber", json!(["latest", true])).await;
    assert_eq!(full["transactions"], json!([mined]));
}

#[tokio::test]
async fn a_reverted_transaction_shows_its_reason() {
    let rig = Rig::start().await;
    let reason = Revert::from("too late").abi_encode();
    let hash = rig.send(0, REVERT, &reason).await;
    rig.mine().await;
    let receipt = rig.get("eth_getTransactionReceipt", json!([hash])).await;
    assert_eq!(receipt["status"], "0x0");
    assert_eq!(receipt["revertReason"], hex::encode_prefixed(reason));
}

#[tokio::test]
async fn log_indexes_run_through_the_block() {
    let rig = Rig::start().await;
    rig.send(0, LOG, &[1]).await;
    let second = rig.send(1, LOG, &[2]).await;
    rig.mine().await;
    let receipt = rig.get("eth_getTransactionReceipt", json!([second])).await;
    assert_eq!(receipt["logs"][0]["logIndex"], "0x1");
    assert_eq!(receipt["logs"][0]["transactionIndex"], "0x1");
}

#[tokio::test]
async fn the_pool_is_shown_in_besus_and_geths_ways() {
    let rig = Rig::start().await;
    let first = rig.send(0, LOG, &[]).await;
    let waiting = rig.send(5, LOG, &[]).await;
    assert_eq!(rig.get("txpool_status", json!([])).await, json!({ "pending": "0x1", "queued": "0x1" }));
    assert_eq!(rig.get("txpool_besuStatistics", json!([])).await["localCount"], 2);
    assert_eq!(rig.get("txpool_besuTransactions", json!([])).await.as_array().unwrap().len(), 2);
    assert_eq!(rig.get("txpool_besuPendingTransactions", json!([1])).await.as_array().unwrap().len(), 1);
    let content = rig.get("txpool_content", json!([])).await;
    let user = json!(rig.user.address());
    let user = user.as_str().unwrap();
    assert_eq!(content["pending"][user]["0"]["hash"], first);
    assert_eq!(content["queued"][user]["5"]["hash"], waiting);
    let inspect = rig.get("txpool_inspect", json!([])).await;
    assert!(inspect["queued"][user]["5"].as_str().unwrap().contains("100000 gas"));
}

#[tokio::test]
async fn fee_history_covers_the_blocks_asked_for() {
    let rig = Rig::start().await;
    rig.send(0, LOG, &[]).await;
    rig.mine().await;
    rig.mine().await;
    let history = rig.get("eth_feeHistory", json!(["0x2", "latest", [25.0, 75.0]])).await;
    assert_eq!(history["oldestBlock"], "0x1");
    assert_eq!(history["baseFeePerGas"], json!(["0x0", "0x0", "0x0"]));
    assert_eq!(history["gasUsedRatio"].as_array().unwrap().len(), 2);
    assert!(history["gasUsedRatio"][0].as_f64().unwrap() > 0.0);
    assert_eq!(history["reward"], json!([["0x0", "0x0"], ["0x0", "0x0"]]));
    let long = rig.get("eth_feeHistory", json!([1024, "latest"])).await;
    assert_eq!(long["oldestBlock"], "0x0");
    assert_eq!(long["baseFeePerGas"].as_array().unwrap().len(), 4);
}

#[tokio::test]
async fn traces_show_what_happened_inside() {
    let rig = Rig::start().await;
    let hash = rig.send(0, ANSWER, &[]).await;
    rig.mine().await;
    let options = json!({ "tracer": "callTracer" });
    let trace = rig.get("debug_traceTransaction", json!([hash, options])).await;
    assert_eq!(trace["to"], json!(ANSWER));
    assert_eq!(trace["output"], format!("0x{:064x}", 42));
    let steps = rig.get("debug_traceTransaction", json!([hash])).await;
    assert_eq!(steps["structLogs"][0]["op"], "PUSH1");
    let call = rig.get("debug_traceCall", json!([{ "to": ANSWER }, "latest", options])).await;
    assert_eq!(call["output"], trace["output"]);
    let block_hash = rig.chain.head().block.hash;
    let by_number = rig.get("debug_traceBlockByNumber", json!(["0x1", options])).await;
    let by_hash = rig.get("debug_traceBlockByHash", json!([block_hash, options])).await;
    assert_eq!(by_number, json!([{ "txHash": hash, "result": trace }]));
    assert_eq!(by_hash, by_number);
    assert_eq!(rig.get("debug_traceBlockByNumber", json!(["0x0", options])).await, json!([]));
}

#[tokio::test]
async fn an_unknown_transaction_is_null() {
    let rig = Rig::start().await;
    let unknown = json!([format!("0x{}", "22".repeat(32))]);
    assert_eq!(rig.get("eth_getTransactionByHash", unknown.clone()).await, Value::Null);
    assert_eq!(rig.get("eth_getTransactionReceipt", unknown).await, Value::Null);
    assert_eq!(rig.get("eth_getBalance", json!([Address::ZERO])).await, "0x0");
}

/// Traces and lists say what went wrong in the words that geth's tools know, not in those of our interpreter.
#[tokio::test]
async fn failures_are_told_in_words() {
    let rig = Rig::start().await;
    let call = json!({ "to": super::HALT, "gas": "0x10000" });
    let invalid = "invalid opcode: INVALID";
    let options = json!({ "tracer": "callTracer" });
    let frame = rig.get("debug_traceCall", json!([call, "latest", options])).await;
    assert_eq!(frame["error"], invalid);
    let steps = rig.get("debug_traceCall", json!([call, "latest", {}])).await;
    assert_eq!(steps["structLogs"][0]["error"], invalid);
    let list = rig.get("eth_createAccessList", json!([call, "latest"])).await;
    assert_eq!(list["error"], invalid);

    let hash = rig.send(0, super::HALT, &[]).await;
    rig.mine().await;
    for (options, path) in [(json!({}), "/structLogs/0/error"), (options, "/error")] {
        let trace = rig.get("debug_traceTransaction", json!([hash, options])).await;
        assert_eq!(trace.pointer(path), Some(&json!(invalid)));
        let traces = rig.get("debug_traceBlockByNumber", json!(["latest", options])).await;
        assert_eq!(traces[0]["result"].pointer(path), Some(&json!(invalid)));
    }

    // Each in a creation of its own.
    for (code, words) in [
        ("0x0c", "invalid opcode"),
        ("0x01", "stack underflow"),
        ("0x600056", "invalid jump destination"),
        ("0x5b600056", "out of gas"),
        ("0x600160015f3e", "return data out of bounds"),
    ] {
        let call = json!({ "data": code, "gas": "0x20000" });
        let frame = rig.get("debug_traceCall", json!([call, "latest", { "tracer": "callTracer" }])).await;
        assert_eq!(frame["error"], words, "{code}");
        let steps = rig.get("debug_traceCall", json!([call, "latest", {}])).await;
        assert_eq!(steps["structLogs"].as_array().unwrap().last().unwrap()["error"], words, "{code}");
        let list = rig.get("eth_createAccessList", json!([call, "latest"])).await;
        assert_eq!(list["error"], words, "{code}");
    }
}
