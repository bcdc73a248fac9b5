//! The keeper inside the product: a jail ends and a stopped validator is slashed, by `up` and by workers.

use alloy_primitives::Address;
use domain::devnet::{DevRole, role_key};
use serde_json::{Value, json};
use testkit::{AppProcess, HttpAnswer, HttpClient, RpcClient, Wallet};

use super::{
    api, folder, indexed, mine, role,
    sixth::{mining, registry},
};
use crate::rig::{BINARY, on_demand};

/// The operator of a genesis validator, which is its node too.
fn operator(index: usize) -> Address {
    Wallet::from_key(role_key(DevRole::Validator(index))).expect("a key").address()
}

async fn wait_for_status(api: HttpClient, operator: Address, wanted: &str) -> Value {
    let path = format!("/api/v1/validators/{operator}");
    let is_there = |answer: &HttpAnswer| answer.json()["status"] == wanted;
    api.wait_for(&path, is_there).await.unwrap_or_else(|error| panic!("{error}")).json()
}

/// Waits until so many transactions wait for a block.
async fn pooled(node: &RpcClient, count: &str) {
    let deadline = std::time::Instant::now() + super::PATIENCE;
    loop {
        let status: Value = node.call("txpool_status", json!([])).await.expect("a pool");
        if status["pending"] == count {
            return;
        }
        assert!(std::time::Instant::now() < deadline, "{status}");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn up_lets_a_validator_out_in_the_block_after_its_jail() {
    let data = folder();
    let app = super::up(data.path()).await;
    let node = app.node().expect("a node");
    let jailed = operator(0);
    registry(&node, role_key(DevRole::Keeper), &["slash", &jailed.to_string(), "downtime"]).await.success();
    wait_for_status(app.api(), jailed, "JAILED").await;
    node.call::<Value>("evm_increaseTime", json!([7 * 24 * 3600])).await.expect("time passes");
    node.mine().await.expect("the block that ends the jail");
    pooled(&node, "0x1").await;
    node.mine().await.expect("a block");
    let detail = wait_for_status(app.api(), jailed, "ACTIVE").await;
    assert_eq!(detail["slashCount"], 1);
}

store::engine_tests! {
    async fn of_two_workers_one_slashes_a_stopped_validator_once(test: TestDb) {
        let (node, data) = (on_demand().await, folder());
        let client = node.client();
        let worker = || async {
            let arguments = role("worker", data.path(), client, test.url());
            let mut command = tokio::process::Command::new(BINARY);
            command.args(arguments).args(["--keeper-auto-slash", "true"]).kill_on_drop(true);
            command.stdout(std::process::Stdio::null()).spawn().expect("the binary runs")
        };
        let (first, _second) = (worker().await, worker().await);
        let app: AppProcess = api(data.path(), client, test.url()).await;
        let down = operator(2);
        client.call::<Value>("chainnet_stopValidator", json!([down])).await.expect("stopped");
        mine(client, 30).await;
        mining(client, wait_for_status(app.api(), down, "JAILED")).await;
        drop(first);
        mine(client, 20).await;
        indexed(app.api(), client.block_number().await.expect("a height")).await;
        let detail = wait_for_status(app.api(), down, "JAILED").await;
        assert_eq!(detail["slashCount"], 1, "{detail}");
        assert_eq!(client.call::<Value>("txpool_status", json!([])).await.expect("a pool")["pending"], "0x0");
    }
}
