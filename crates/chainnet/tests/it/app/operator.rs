//! The operator's commands on a running product.

use ::contracts::{PlatformFees, address::FEES, fees::FeeSource};
use alloy_primitives::{B256, U256};
use alloy_sol_types::SolCall;
use serde_json::{Value, json};
use std::path::Path;
use testkit::{Draft, RpcClient, Wallet};

use super::{folder, indexed, up};
use crate::rig::{Ended, chainnet, chainnet_with};

fn database(data: &Path) -> String {
    format!("sqlite:{}/chainnet.db", data.display())
}

async fn doctor(data: &Path, node: &RpcClient, more: &[&str]) -> Ended {
    let (url, database) = (node.url(), database(data));
    let path = data.to_str().unwrap();
    let arguments = ["doctor", "--data", path, "--rpc-url", &url, "--database-url", &database];
    let ports = ["API_PORT", "GATEWAY_PORT", "FAUCET_PORT", "EXPLORER_PORT", "METRICS_PORT"];
    chainnet_with(arguments.iter().chain(more), |command| {
        // Others on this machine may have the usual ones.
        command.envs(ports.map(|port| (port, "0")));
    })
    .await
}

pub(super) async fn pay_fee(node: &RpcClient) {
    let call = PlatformFees::payCall { source: FeeSource::Payments.id(), r#ref: B256::ZERO };
    let draft = Draft { value: U256::from(1_000), ..Draft::call(FEES, call.abi_encode()) };
    node.send_raw(&Wallet::dev(1).sign_legacy(draft).raw).await.unwrap();
    node.mine().await.unwrap();
}

#[tokio::test]
async fn doctor_finds_a_healthy_product_healthy_and_a_missing_node_missing() {
    let data = folder();
    let mut app = up(data.path()).await;
    let node = app.node().unwrap();
    pay_fee(&node).await;
    indexed(app.api(), 1).await;
    // The newest block is of the near future then: a machine that is slow to start the command does not make it old.
    super::mine(&node, 2).await;
    let healthy = doctor(data.path(), &node, &[]).await.success();
    for line in [
        "ok    configuration",
        "ok    chain",
        "ok    contracts",
        "ok    database",
        "ok    index",
        "ok    fees",
    ] {
        assert!(healthy.contains(line), "{line} is missing from:\n{healthy}");
    }
    assert!(healthy.contains("1 payments"), "{healthy}");

    app.kill9().await.unwrap();
    let ended = doctor(data.path(), &node, &["--json"]).await;
    let findings: Vec<Value> = serde_json::from_str(&ended.out).unwrap();
    let chain = findings.iter().find(|finding| finding["check"] == "chain").unwrap();
    assert_eq!(chain["verdict"], "fail");
    assert!(chain["advice"].as_str().unwrap().contains("PLATFORM_RPC_URL"), "{chain}");
    ended.failure();
}

#[tokio::test]
async fn an_application_is_reviewed_from_the_command_line() {
    let data = folder();
    let app = up(data.path()).await;
    let body = json!({
        "moniker": "Node of Bob",
        "operatorAddress": Wallet::dev(3).address().to_string(),
        "email": "bob@example.org",
        "stakeAmount": "100000",
        "commission": 5,
    });
    let answer = app.api().post("/api/v1/validators/applications", &body).await.unwrap();
    assert_eq!(answer.status, 201, "{:?}", answer.json());
    let url = database(data.path());
    let run = |arguments: Vec<String>| {
        let all = ["applications".to_owned()].into_iter().chain(arguments);
        chainnet(all.chain(["--database-url".to_owned(), url.clone()]))
    };
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();

    let listed = run(words(&["list", "--state", "submitted", "--json"])).await.success();
    let listed: Vec<Value> = serde_json::from_str(&listed).unwrap();
    let id = listed[0]["id"].as_str().unwrap();
    assert_eq!(listed[0]["moniker"], "Node of Bob");
    let table = run(words(&["list"])).await.success();
    assert!(table.contains(id) && table.contains("submitted") && table.contains("Node of Bob"), "{table}");

    run(words(&["review", id, "--by", "alice"])).await.success();
    let approved = run(words(&["approve", id, "--by", "alice", "--note", "checked"])).await.success();
    assert_eq!(approved.trim(), format!("{id} is approved"));
    let shown = run(words(&["show", id])).await.success();
    for word in
        ["bob@example.org", "approved by alice: checked", "in_review by alice", "submitted by applicant"]
    {
        assert!(shown.contains(word), "{word} is missing from:\n{shown}");
    }
    let refused = run(words(&["reject", id, "--by", "alice"])).await.failure();
    assert!(refused.contains("approved") && refused.contains("rejected"), "{refused}");
    let public = app.api().get(&format!("/api/v1/validators/applications/{id}")).await.unwrap().json();
    assert!(public.to_string().contains("approved") && !public.to_string().contains("bob@"), "{public}");

    let unknown = run(words(&["show", "app_0000000000000000000000000192f00d"])).await.failure();
    assert!(unknown.contains("no such application"), "{unknown}");
    assert_eq!(run(words(&["show", "7"])).await.code, Some(2));
}
