//! Single validators of a running node: stopped, started and voted in and out with `chainnet node ctl`.

use std::time::Duration;

use alloy_primitives::Bytes;
use ibft::extra_data::ExtraData;
use serde_json::{Value, json};
use testkit::{NodeProcess, RpcClient};
use tokio::time::{Instant, sleep};

use crate::rig::{assert_calm, block, ctl, node, on_demand};

/// Longer than any block takes with at most one validator missing.
const PATIENCE: Duration = Duration::from_secs(60);

/// A line of `ctl status`.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) address: String,
    pub(crate) running: bool,
    pub(crate) in_set: bool,
}

pub(crate) async fn status(node: &NodeProcess) -> Vec<Line> {
    let text = ctl(node, ["status"]).await.success();
    let lines = text.lines().filter(|line| line.starts_with('V'));
    lines
        .map(|line| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [name, address, running, set] = words[..] else { panic!("{line}") };
            let (running, in_set) = (running == "running", set == "validator");
            Line { name: name.to_owned(), address: address.to_lowercase(), running, in_set }
        })
        .collect()
}

pub(crate) fn round(block: &Value) -> u32 {
    let extra: Bytes = serde_json::from_value(block["extraData"].clone()).expect("bytes");
    ExtraData::decode(&extra).expect("IBFT extra data").round
}

/// The validator that proposes after the head: the next one in the order of addresses.
pub(crate) async fn next_proposer(node: &NodeProcess) -> Line {
    let mut set: Vec<Line> = status(node).await.into_iter().filter(|line| line.in_set).collect();
    set.sort_by(|a, b| a.address.cmp(&b.address));
    let miner = block(node.client(), "latest").await["miner"].as_str().expect("a miner").to_lowercase();
    let next = set.iter().position(|line| line.address > miner).unwrap_or(0);
    set.swap_remove(next)
}

/// The first block from `from` on that satisfies the condition.
async fn wait_for_block(client: &RpcClient, mut from: u64, wanted: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + PATIENCE;
    while Instant::now() < deadline {
        let found = block(client, &format!("{from:#x}")).await;
        if found.is_null() {
            sleep(Duration::from_millis(50)).await;
        } else if wanted(&found) {
            return found;
        } else {
            from += 1;
        }
    }
    panic!("no such block came");
}

#[tokio::test]
async fn one_stopped_validator_costs_a_round_and_two_stop_the_chain_until_one_is_back() {
    let node = node([]).await;
    let client = node.client();
    wait_for_block(client, 1, |_| true).await;

    let first = next_proposer(&node).await;
    assert_eq!(ctl(&node, ["stop", &first.name]).await.success().trim(), "done");
    assert!(status(&node).await.iter().all(|line| line.running != (line.name == first.name)));
    let head = client.block_number().await.unwrap();
    let changed = wait_for_block(client, head + 1, |block| round(block) == 1).await;
    assert_ne!(changed["miner"].as_str().unwrap().to_lowercase(), first.address);

    let second = next_proposer(&node).await;
    ctl(&node, ["stop", &second.name.to_lowercase()]).await.success();
    let stalled = client.block_number().await.unwrap();
    sleep(Duration::from_secs(7)).await;
    assert_eq!(client.block_number().await.unwrap(), stalled, "three of five validators sealed a block");

    ctl(&node, ["start", &second.name]).await.success();
    wait_for_block(client, stalled + 1, |_| true).await;
    ctl(&node, ["start", &first.address]).await.success();
    wait_for_block(client, stalled + 2, |block| round(block) == 0).await;
    assert!(status(&node).await.iter().all(|line| line.running));
    assert_calm(&node);
}

async fn vote_of_all(node: &NodeProcess, subject: &str, choice: &str) {
    for line in status(node).await.iter().filter(|line| line.in_set) {
        ctl(node, ["vote", &line.name, subject, choice]).await.success();
    }
}

async fn validators_at_head(client: &RpcClient) -> Vec<String> {
    client.call("ibft_getValidatorsByBlockNumber", json!(["latest"])).await.unwrap()
}

#[tokio::test]
async fn a_standby_validator_is_voted_in_and_proposes_and_another_is_voted_out() {
    let node = on_demand().await;
    let client = node.client();
    let all = status(&node).await;
    let (first, sixth) = (all[0].clone(), all[5].clone());
    assert!(first.in_set && !sixth.in_set && sixth.running);
    assert_eq!(all.len(), 7);

    vote_of_all(&node, &sixth.address, "add").await;
    let listed = ctl(&node, ["status"]).await.success();
    assert!(listed.to_lowercase().contains(&format!("votes to add {}", sixth.address)), "{listed}");
    let mut proposers = Vec::new();
    for _ in 0..12 {
        client.mine().await.unwrap();
        proposers.push(block(client, "latest").await["miner"].as_str().unwrap().to_lowercase());
    }
    assert!(validators_at_head(client).await.contains(&sixth.address));
    assert!(proposers.contains(&sixth.address), "{proposers:?}");

    vote_of_all(&node, &first.address, "drop").await;
    for _ in 0..12 {
        client.mine().await.unwrap();
    }
    let set = validators_at_head(client).await;
    assert!(!set.contains(&first.address) && set.len() == 5, "{set:?}");
    assert!(status(&node).await.iter().any(|line| line.name == first.name && !line.in_set));
    assert_calm(&node);
}

#[tokio::test]
async fn a_discarded_vote_is_not_cast() {
    let node = on_demand().await;
    let sixth = status(&node).await[5].address.clone();
    vote_of_all(&node, &sixth, "add").await;
    vote_of_all(&node, &sixth, "discard").await;
    for _ in 0..6 {
        node.client().mine().await.unwrap();
    }
    assert!(!validators_at_head(node.client()).await.contains(&sixth));
    assert!(!ctl(&node, ["status"]).await.success().contains("votes to"));
}

#[tokio::test]
async fn what_ctl_cannot_do_is_told() {
    let node = on_demand().await;
    let error = ctl(&node, ["stop", "V9"]).await.failure();
    assert!(error.contains("unknown validator `V9`"), "{error}");
    for name in ["V1", "V2"] {
        ctl(&node, ["stop", name]).await.success();
    }
    let error = node.client().mine().await.unwrap_err().to_string();
    assert!(error.contains("3 of 5 validators are running, 4 are needed"), "{error}");
    let nobody = testkit::process::free_port().unwrap().to_string();
    let error = crate::rig::chainnet(["node", "ctl", "--rpc-port", &nobody, "status"]).await.failure();
    assert!(error.contains(&nobody) && error.contains("--rpc-port"), "{error}");
    let bad = ctl(&node, ["vote", "V1", "0x12", "add"]).await;
    assert_eq!(bad.code, Some(2));
}
