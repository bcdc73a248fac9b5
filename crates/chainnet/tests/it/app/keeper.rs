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
pub(super) async fn pooled(node: &RpcClient, count: &str) {
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

/// Slashes an operator out of the registry.
async fn slash_out(node: &RpcClient, operator: Address) {
    for _ in 0..3 {
        let words = ["slash", &operator.to_string(), "downtime", "--again"];
        registry(node, role_key(DevRole::Keeper), &words).await.success();
    }
}

#[tokio::test]
async fn a_third_slash_is_told_everywhere_and_with_votes_ends_in_the_set() {
    let data = folder();
    let app = super::up(data.path()).await;
    let node = app.node().expect("a node");
    mine(&node, 12).await;
    let slashed = operator(1);
    slash_out(&node, slashed).await;
    let detail = wait_for_status(app.api(), slashed, "SLASHED").await;
    assert_eq!(
        (&detail["inValidatorSet"], &detail["removalPending"]),
        (&json!(true), &json!(true)),
        "{detail}"
    );
    let page = app.server().announced("Explorer").expect("an explorer");
    let page = HttpClient::new(page).get(&format!("/validators/{slashed}")).await.expect("a page");
    assert!(String::from_utf8_lossy(&page.body).contains("until it is voted out"));
    let metrics = HttpClient::new(app.server().announced("Metrics").expect("metrics"));
    let is_counted = |answer: &HttpAnswer| {
        String::from_utf8_lossy(&answer.body).contains("keeper_validators_expelled 1\n")
    };
    metrics.wait_for("/metrics", is_counted).await.unwrap_or_else(|error| panic!("{error}"));
    drop(app);

    let arguments = ["--on-demand", "--rate-limit-max", "100000", "--keeper-auto-vote", "true"];
    let app = AppProcess::up(BINARY, data.path(), arguments).await.unwrap_or_else(|error| panic!("{error}"));
    let node = app.node().expect("a node");
    let is_out = |answer: &HttpAnswer| answer.json()["inValidatorSet"] == false;
    let path = format!("/api/v1/validators/{slashed}");
    let api = app.api();
    let detail = mining(&node, api.wait_for(&path, is_out)).await.unwrap_or_else(|error| panic!("{error}"));
    let detail = detail.json();
    assert_eq!(
        (&detail["status"], &detail["removalPending"]),
        (&json!("SLASHED"), &json!(false)),
        "{detail}"
    );
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
