//! Every method of the table works, over the embedded chain.

use chainnet_gateway::method_entries;
use serde_json::{Value, json};

use crate::{
    front::{Front, open},
    world::{MULTICALL, World},
};

/// Parameters that a method takes; the hashes are of a block and of a transaction in it.
fn params(method: &str, block: &Value, transaction: &Value) -> Value {
    let call = json!({ "to": MULTICALL, "data": "0x42cbb15c" });
    match method {
        "eth_call" | "eth_createAccessList" | "eth_estimateGas" => json!([call]),
        "eth_feeHistory" => json!(["0x1", "latest", [50]]),
        "eth_getBalance" | "eth_getCode" | "eth_getTransactionCount" => json!([MULTICALL]),
        "eth_getBlockByHash" => json!([block, false]),
        "eth_getBlockByNumber" => json!(["latest", true]),
        "eth_getBlockTransactionCountByHash"
        | "eth_getMinerDataByBlockHash"
        | "eth_getUncleCountByBlockHash"
        | "ibft_getValidatorsByBlockHash" => json!([block]),
        "eth_getBlockReceipts"
        | "eth_getBlockTransactionCountByNumber"
        | "eth_getMinerDataByBlockNumber"
        | "eth_getUncleCountByBlockNumber"
        | "ibft_getValidatorsByBlockNumber" => json!(["latest"]),
        "eth_getLogs" => json!([{}]),
        "eth_getProof" => json!([MULTICALL, [], "latest"]),
        "eth_getStorageAt" => json!([MULTICALL, "0x0"]),
        "eth_getTransactionByBlockHashAndIndex" | "eth_getUncleByBlockHashAndIndex" => json!([block, "0x0"]),
        "eth_getTransactionByBlockNumberAndIndex" | "eth_getUncleByBlockNumberAndIndex" => {
            json!(["latest", "0x0"])
        }
        "eth_getTransactionByHash" | "eth_getTransactionReceipt" => json!([transaction]),
        "web3_sha3" => json!(["0x01"]),
        _ => json!([]),
    }
}

#[tokio::test]
async fn every_method_of_the_table_is_answered() {
    let world = World::new();
    let front = Front::new(open(), world.in_process()).await;
    let transaction = front.ask("eth_sendRawTransaction", json!([world.transfer(0).0])).await;
    world.mine().await;
    front.reach(1).await;
    let block = front.ask("eth_getBlockByNumber", json!(["latest", false])).await["hash"].clone();
    let mut asked = 0;
    // Filters and subscriptions need more than one call.
    let alone = method_entries().filter(|entry| !entry.answered.contains("the gateway"));
    for entry in alone.filter(|entry| entry.name != "eth_sendRawTransaction") {
        let params = params(entry.name, &block, &transaction);
        let answer = front.call(entry.name, params).await.json();
        assert!(answer.get("result").is_some(), "{}: {answer}", entry.name);
        let may_be_null = entry.name.starts_with("eth_getUncleBy") || entry.name == "eth_blobBaseFee";
        assert!(may_be_null || !answer["result"].is_null(), "{}: {answer}", entry.name);
        asked += 1;
    }
    assert!(asked > 35, "{asked}");
}
