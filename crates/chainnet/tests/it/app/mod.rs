//! The product's processes together: `up`, and its roles as processes of their own.

mod access;
mod attack;
mod besu;
mod database;
mod doctor;
mod drain;
mod fleet;
mod fleet_kills;
mod front;
mod headers;
mod index_kills;
mod keeper;
mod logs;
mod lost_database;
mod metrics;
mod operator;
mod outage;
mod portal_kills;
mod redis_tls;
mod registry;
mod rest;
mod rewards;
mod roles;
mod secrets;
mod sixth;

use std::{
    path::Path,
    process::Stdio,
    time::{Duration, Instant},
};

use alloy_primitives::{Address, U256};
use serde_json::{Value, json};
use store::Db;
use tempfile::TempDir;
use testkit::{AppProcess, Draft, HttpClient, RpcClient, Wallet};
use tokio::process::{Child, Command};

use crate::rig::BINARY;

/// How long something may take on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(60);
const BOB: Address = Address::repeat_byte(0xb0);

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// `chainnet up` on a chain that makes blocks when asked.
async fn up(data: &Path) -> AppProcess {
    let arguments = ["--on-demand", "--rate-limit-max", "100000"];
    AppProcess::up(BINARY, data, arguments).await.unwrap_or_else(|error| panic!("{error}"))
}

/// `chainnet api` on a node and a database.
async fn api(data: &Path, node: &RpcClient, database: &str) -> AppProcess {
    let arguments = role("api", data, node, database);
    let own = ["--api-port", "0", "--rate-limit-max", "100000"].map(str::to_owned);
    AppProcess::start(BINARY, arguments.into_iter().chain(own))
        .await
        .unwrap_or_else(|error| panic!("{error}"))
}

/// `chainnet worker` on a node and a database; killed when dropped.
fn worker(data: &Path, node: &RpcClient, database: &str) -> Child {
    Command::new(BINARY)
        .args(role("worker", data, node, database))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .expect("the binary runs")
}

fn role(name: &str, data: &Path, node: &RpcClient, database: &str) -> Vec<String> {
    let data = data.display().to_string();
    let places = ["--rpc-url", &node.url(), "--database-url", database, "--metrics-port", "0"];
    [name, "--data", &data].into_iter().chain(places).map(str::to_owned).collect()
}

/// Sends a transfer and makes the block that has it.
async fn transfer(node: &RpcClient, wallet: &mut Wallet) -> String {
    let signed = wallet.sign_legacy(Draft::transfer(BOB, U256::from(1)));
    let hash = node.send_raw(&signed.raw).await.expect("taken");
    node.mine().await.expect("a block");
    hash.to_string()
}

/// Makes many blocks.
async fn mine(node: &RpcClient, blocks: usize) {
    for chunk in vec![("evm_mine", json!([])); blocks].chunks(100) {
        for made in node.batch(chunk).await.expect("an answer") {
            made.expect("a block");
        }
    }
}

/// Waits until the API says that the index has this block.
async fn indexed(api: HttpClient, block: u64) {
    let has_it = |answer: &testkit::HttpAnswer| {
        answer.json().pointer("/checks/index/blockNumber").and_then(Value::as_u64) >= Some(block)
    };
    api.wait_for("/ready", has_it).await.unwrap_or_else(|error| panic!("{error}"));
}

/// Waits until the index has this block.
async fn index_reaches(db: &Db, block: u64) -> u64 {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let at = db.index_head().await.expect("a database").map(|head| head.number);
        match at {
            Some(at) if at >= block => return at,
            _ => assert!(Instant::now() < deadline, "the index is at {at:?}, not at {block}"),
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
