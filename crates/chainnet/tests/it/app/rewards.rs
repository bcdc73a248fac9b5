//! `chainnet registry rewards` and `chainnet send` on a running product.

use std::path::Path;

use alloy_primitives::Address;
use domain::devnet;
use serde_json::{Value, json};
use testkit::RpcClient;

use super::{folder, indexed, keeper::pooled, mine, sixth::mining, up};
use crate::rig::{Ended, chainnet};

async fn rewards(node: &RpcClient, data: &Path, words: &[&str]) -> Ended {
    let (url, key) = (node.url(), devnet::ACCOUNTS[0].key.to_string());
    let database = format!("sqlite:{}/chainnet.db", data.display());
    let settings = ["--rpc-url", &url, "--registry-key", &key, "--database-url", &database];
    mining(node, chainnet(["registry", "rewards"].iter().chain(words).chain(&settings))).await
}

/// What the registry holds for all operators together.
async fn unclaimed(node: &RpcClient) -> Vec<String> {
    let url = node.url();
    let status = chainnet(["registry", "status", "--json", "--rpc-url", &url]).await.success();
    let status: Value = serde_json::from_str(&status).expect("JSON");
    let validators = status["validators"].as_array().expect("validators").clone();
    validators.iter().map(|one| one["rewards"].as_str().expect("an amount").to_owned()).collect()
}

#[tokio::test]
async fn a_pool_is_divided_shown_and_paid_once() {
    let data = folder();
    let app = up(data.path()).await;
    let node = app.node().expect("a node");
    mine(&node, 21).await;
    indexed(app.api(), 21).await;
    // Twenty blocks, four of each of the five.
    let range = ["--from", "2", "--to", "21", "--pool", "100.000000000000000004"];
    let plan = rewards(&node, data.path(), &[&range[..], &["--json"]].concat()).await.success();
    let plan: Value = serde_json::from_str(&plan).expect("JSON");
    assert_eq!((&plan["sent"], &plan["rest"]), (&json!(false), &json!("0.000000000000000004")), "{plan}");
    let shares = plan["shares"].as_array().expect("shares");
    assert_eq!(shares.len(), 5, "{plan}");
    for share in shares {
        assert_eq!(
            (&share["amount"], &share["proposedBlocks"], &share["uptimePpm"]),
            (&json!("20"), &json!(4), &json!(1_000_000))
        );
    }
    let shown = rewards(&node, data.path(), &range).await.success();
    assert!(shown.contains("commission 5.00%") && shown.contains("--yes sends it"), "{shown}");
    assert_eq!(unclaimed(&node).await, ["0"; 5], "nothing was sent");

    let sent = rewards(&node, data.path(), &[&range[..], &["--yes"]].concat()).await.success();
    assert!(sent.contains("all 5 operators are paid"), "{sent}");
    assert_eq!(unclaimed(&node).await, ["20"; 5]);
    let again = rewards(&node, data.path(), &[&range[..], &["--yes", "--json"]].concat()).await.success();
    let again: Value = serde_json::from_str(&again).expect("JSON");
    assert_eq!(again["payments"].as_array().map(Vec::len), Some(5));
    assert_eq!(unclaimed(&node).await, ["20"; 5], "once");

    // Ranges that share a block, other pools, and blocks that are not there.
    for (words, told) in [
        (["--from", "21", "--to", "25", "--pool", "1", "--yes"], "must not share a block"),
        (["--from", "2", "--to", "21", "--pool", "7", "--yes"], "cannot be changed"),
        (["--from", "9999998", "--to", "9999999", "--pool", "1", "--yes"], "the index is at block"),
        (["--from", "9", "--to", "8", "--pool", "1", "--yes"], "must not be above"),
    ] {
        let refused = rewards(&node, data.path(), &words).await.failure();
        assert!(refused.contains(told), "{words:?}: {refused}");
    }

    // With a database that knows nothing of it, the chain tells.
    let file = data.path().join("chainnet.db");
    indexed(app.api(), node.block_number().await.expect("a height")).await;
    store::testing::tamper(&file, "DELETE FROM reward_payment").await;
    store::testing::tamper(&file, "DELETE FROM reward_run").await;
    let refused = rewards(&node, data.path(), &[&range[..], &["--yes"]].concat()).await.failure();
    assert!(refused.contains("paid with another database"), "{refused}");
    assert_eq!(unclaimed(&node).await, ["20"; 5]);
}

#[tokio::test]
async fn rewards_that_were_broken_off_go_on_where_they_stopped() {
    let data = folder();
    let app = up(data.path()).await;
    let node = app.node().expect("a node");
    mine(&node, 10).await;
    indexed(app.api(), 10).await;
    let words = ["--from", "1", "--to", "10", "--pool", "50", "--yes"];
    let (url, key) = (node.url(), devnet::ACCOUNTS[0].key.to_string());
    let database = format!("sqlite:{}/chainnet.db", data.path().display());
    // Killed with its first payment in the pool: nobody mines.
    let mut command = tokio::process::Command::new(crate::rig::BINARY);
    command.args(["registry", "rewards"]).args(words).args(["--rpc-url", &url, "--registry-key", &key]);
    command.args(["--database-url", &database]).kill_on_drop(true).stderr(std::process::Stdio::null());
    let mut broken_off = command.spawn().expect("the binary runs");
    pooled(&node, "0x1").await;
    broken_off.kill().await.expect("killed");
    // It is paid, and nobody has noted it.
    node.mine().await.expect("a block");
    let done = rewards(&node, data.path(), &words).await.success();
    assert!(done.contains("all 5 operators are paid"), "{done}");
    assert_eq!(unclaimed(&node).await, ["10"; 5], "every one once");
}

#[tokio::test]
async fn coin_is_sent_when_it_is_meant() {
    let data = folder();
    let app = up(data.path()).await;
    let node = app.node().expect("a node");
    let (url, to) = (node.url(), Address::repeat_byte(0x77).to_string());
    let balance =
        async || -> Value { node.call("eth_getBalance", json!([to, "latest"])).await.expect("a balance") };
    let tried = chainnet(["send", &to, "100000", "--dry-run", "--rpc-url", &url]).await.success();
    assert!(tried.contains("nothing was sent"), "{tried}");
    assert_eq!(balance().await, "0x0");
    let sent = mining(&node, chainnet(["send", &to, "100000", "--json", "--rpc-url", &url])).await.success();
    let sent: Value = serde_json::from_str(&sent).expect("JSON");
    assert_eq!((&sent["sent"], &sent["balanceAfter"]), (&json!(true), &json!("100000")), "{sent}");
    let faucet = chainnet(["send", &to, "1.5", "--from", "faucet", "--rpc-url", &url]);
    mining(&node, faucet).await.success();
    assert_eq!(balance().await, "0x152d1798f35871960000");
    for (words, told) in [
        (vec!["send", &to, "999999999999", "--rpc-url", &url], "not enough"),
        (vec!["send", &to, "0", "--rpc-url", &url], "nothing to send"),
        (vec!["send", &to, "1", "--network", "mainnet", "--rpc-url", &url], "--mainnet"),
    ] {
        let refused = chainnet(words).await.failure();
        assert!(refused.contains(told), "{refused}");
    }
}
