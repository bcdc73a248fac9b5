//! A sixth validator: applies, is approved, stakes, is voted in, proposes blocks, and is voted out again.

use std::{future::Future, path::Path, pin::pin, time::Duration};

use alloy_primitives::{Address, B256};
use domain::devnet::{self, DevRole, role_key};
use serde_json::{Value, json};
use testkit::{AppProcess, HttpAnswer, RpcClient, Wallet};
use tokio::time::sleep;

use super::{folder, up};
use crate::rig::{BINARY, Ended, block, chainnet};

const BOB: usize = 3;

/// Makes blocks while a command waits for its transaction.
pub(super) async fn mining<T>(node: &RpcClient, work: impl Future<Output = T>) -> T {
    let mut work = pin!(work);
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = sleep(Duration::from_millis(50)) => node.mine().await.expect("a block"),
        }
    }
}

/// `chainnet registry …`, signed by a development account.
pub(super) async fn registry(node: &RpcClient, key: B256, words: &[&str]) -> Ended {
    let (url, key) = (node.url(), key.to_string());
    let settings = ["--rpc-url", &url, "--registry-key", &key];
    mining(node, chainnet(["registry"].iter().chain(words).chain(&settings))).await
}

/// `chainnet validator …` with the product's database.
async fn validator(node: &RpcClient, data: &Path, words: &[&str]) -> Ended {
    let (url, database) = (node.url(), format!("sqlite:{}/chainnet.db", data.display()));
    let settings = ["--rpc-url", &url, "--database-url", &database];
    chainnet(["validator"].iter().chain(words).chain(&settings)).await
}

async fn applications(data: &Path, words: &[&str]) -> Ended {
    let database = format!("sqlite:{}/chainnet.db", data.display());
    let settings = ["--by", "alice", "--database-url", &database];
    chainnet(["applications"].iter().chain(words).chain(&settings)).await
}

/// Makes blocks until one is not by this validator, which casts no vote about itself.
async fn mine_by_another(node: &RpcClient, validator: &str) {
    loop {
        node.mine().await.expect("a block");
        if !is(&block(node, "latest").await["miner"], validator) {
            return;
        }
    }
}

async fn wait(app: &AppProcess, path: &str, is_there: impl Fn(&Value) -> bool) -> Value {
    let is_there = |answer: &HttpAnswer| is_there(&answer.json());
    app.api().wait_for(path, is_there).await.unwrap_or_else(|error| panic!("{error}")).json()
}

async fn wait_for_state(app: &AppProcess, id: &str, state: &str) {
    wait(app, &format!("/api/v1/validators/applications/{id}"), |answer| answer["state"] == state).await;
}

/// The vote about a node, once the expansion shows one of this kind.
async fn wait_for_vote(app: &AppProcess, node: &str, kind: &str) -> Value {
    let wanted = |vote: &&Value| is(&vote["candidate"], node) && vote["kind"] == kind;
    let find =
        |answer: &Value| answer["votes"].as_array().and_then(|votes| votes.iter().find(wanted).cloned());
    let answer = wait(app, "/api/v1/validators/expansion", |answer| find(answer).is_some()).await;
    find(&answer).expect("the vote")
}

fn is(value: &Value, address: &str) -> bool {
    value.as_str().is_some_and(|text| text.eq_ignore_ascii_case(address))
}

/// The sixth key of the embedded node.
async fn sixth(node: &RpcClient) -> String {
    let seats: Vec<Value> = node.call("chainnet_validators", json!([])).await.expect("the node's validators");
    let seat = seats.iter().find(|seat| seat["name"] == "V6").expect("a standby validator");
    assert_eq!((&seat["running"], &seat["inValidatorSet"]), (&json!(true), &json!(false)));
    seat["address"].as_str().expect("an address").parse::<Address>().expect("an address").to_string()
}

async fn apply(app: &AppProcess) -> String {
    let body = json!({
        "moniker": "Node of Bob",
        "operatorAddress": Wallet::dev(BOB).address().to_string(),
        "email": "bob@example.org",
        "stakeAmount": "100000",
        "commission": 5,
    });
    let answer = app.api().post("/api/v1/validators/applications", &body).await.expect("an answer");
    assert_eq!(answer.status, 201, "{:?}", answer.json());
    answer.json()["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn a_sixth_validator_joins_by_votes_and_leaves_by_votes() {
    let data = folder();
    let app = up(data.path()).await;
    let node = app.node().expect("a node");
    let (admin, bob) = (devnet::ACCOUNTS[0].key, devnet::ACCOUNTS[BOB].key);
    let v6 = sixth(&node).await;
    let id = apply(&app).await;
    applications(data.path(), &["approve", &id]).await.success();

    // On chain: room, stake, the node's own address.
    registry(&node, admin, &["expand", "2"]).await.success();
    registry(&node, bob, &["register", "Node of Bob"]).await.success();
    registry(&node, bob, &["set-consensus-address", &v6]).await.success();
    wait_for_state(&app, &id, "staked").await;

    // The votes: one in each block that one of the five proposes.
    let voted = validator(&node, data.path(), &["vote", &v6, "--add"]).await.success();
    assert_eq!(voted.matches("will vote to add").count(), 5, "{voted}");
    node.mine().await.expect("a block");
    let vote = wait_for_vote(&app, &v6, "add").await;
    assert_eq!((vote["voters"].as_array().map(Vec::len), &vote["needed"]), (Some(1), &json!(3)), "{vote}");
    wait_for_state(&app, &id, "voting").await;
    let tally = validator(&node, data.path(), &["votes"]).await.success();
    assert!(tally.contains(&format!("1 of 3 votes in blocks to add {v6}")), "{tally}");

    // In: its blocks are there, and the application has come to its end.
    let mut proposers = Vec::new();
    for _ in 0..14 {
        node.mine().await.expect("a block");
        proposers.push(block(&node, "latest").await["miner"].clone());
    }
    assert!(proposers.iter().any(|miner| is(miner, &v6)), "{proposers:?}");
    wait_for_state(&app, &id, "active").await;
    let is_in =
        |answer: &Value| answer["inValidatorSet"] == true && answer["proposedBlocks"].as_u64() > Some(0);
    let detail = wait(&app, &format!("/api/v1/validators/{v6}"), is_in).await;
    assert_eq!(detail["moniker"], "Node of Bob");
    let again = validator(&node, data.path(), &["vote", &v6, "--add"]).await.failure();
    assert!(again.contains("already"), "{again}");

    // And out again: four of six have to agree.
    validator(&node, data.path(), &["vote", &v6, "--drop"]).await.success();
    mine_by_another(&node, &v6).await;
    let mut vote = wait_for_vote(&app, &v6, "drop").await;
    assert_eq!(vote["needed"], 4, "{vote}");
    for _ in 0..12 {
        node.mine().await.expect("a block");
    }
    let gone = |answer: &Value| answer["inValidatorSet"] == false;
    wait(&app, &format!("/api/v1/validators/{v6}"), gone).await;
    let expansion = wait(&app, "/api/v1/validators/expansion", |answer| answer["votes"] == json!([])).await;
    vote = expansion["votes"].clone();
    assert_eq!(vote, json!([]));
    let tally = validator(&node, data.path(), &["status", "--json"]).await.success();
    let tally: Value = serde_json::from_str(&tally).expect("JSON");
    assert_eq!(tally["tally"]["validatorSet"].as_array().map(Vec::len), Some(5), "{tally}");
}

#[tokio::test]
async fn an_accepted_operator_is_voted_in_and_after_its_third_slash_out_by_the_keeper() {
    let data = folder();
    let arguments = ["--on-demand", "--rate-limit-max", "100000", "--keeper-auto-vote", "true"];
    let app = AppProcess::up(BINARY, data.path(), arguments).await.unwrap_or_else(|error| panic!("{error}"));
    let node = app.node().expect("a node");
    for _ in 0..12 {
        node.mine().await.expect("a block");
    }
    let (admin, bob) = (devnet::ACCOUNTS[0].key, devnet::ACCOUNTS[BOB].key);
    let v6 = sixth(&node).await;
    let id = apply(&app).await;
    applications(data.path(), &["approve", &id]).await.success();
    registry(&node, admin, &["expand", "2"]).await.success();
    registry(&node, bob, &["register", "Node of Bob"]).await.success();
    registry(&node, bob, &["set-consensus-address", &v6]).await.success();
    mining(&node, wait_for_state(&app, &id, "active")).await;
    let detail =
        wait(&app, &format!("/api/v1/validators/{v6}"), |answer| answer["inValidatorSet"] == true).await;
    assert_eq!(detail["moniker"], "Node of Bob");

    let operator = Wallet::dev(BOB).address().to_string();
    for _ in 0..3 {
        let slash = ["slash", &operator, "downtime", "--again"];
        registry(&node, role_key(DevRole::Keeper), &slash).await.success();
    }
    mining(&node, wait_for_state(&app, &id, "removed")).await;
    let gone = |answer: &Value| answer["inValidatorSet"] == false;
    mining(&node, wait(&app, &format!("/api/v1/validators/{v6}"), gone)).await;
}

#[tokio::test]
async fn votes_can_be_taken_back_and_pointless_ones_are_refused() {
    let data = folder();
    let app = up(data.path()).await;
    let node = app.node().expect("a node");
    let v6 = sixth(&node).await;
    validator(&node, data.path(), &["vote", &v6, "--add"]).await.success();
    let discarded = validator(&node, data.path(), &["discard", &v6]).await.success();
    assert_eq!(discarded.matches("votes no longer").count(), 5, "{discarded}");
    for _ in 0..6 {
        node.mine().await.expect("a block");
    }
    let told = validator(&node, data.path(), &["votes"]).await.success();
    assert!(told.contains("no votes in blocks"), "{told}");
    let refused = validator(&node, data.path(), &["vote", &v6, "--drop"]).await.failure();
    assert!(refused.contains("not in the validator set"), "{refused}");
    assert_eq!(validator(&node, data.path(), &["vote", &v6]).await.code, Some(2), "add or drop?");
    assert_eq!(validator(&node, data.path(), &["vote", "0x12", "--add"]).await.code, Some(2));
}
