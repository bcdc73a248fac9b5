//! `bench faucet`: many wallets claim at once; each must be paid exactly once, and soon.

use std::{net::SocketAddr, path::PathBuf, time::Instant};

use alloy_primitives::{Address, B256, U256, keccak256};
use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::{AppProcess, Mining};
use tokio::task::JoinSet;

use crate::{
    http::{Connection, post},
    machine, peer, progress,
    table::{self, Row, Target, Unit},
};

/// What the process prints in front of the faucet's address.
const MARKER: &str = "Faucet";
/// Coin of a claim.
const COIN: u64 = 500;
/// Blocks within which the last claim must be paid.
const BLOCKS: f64 = 5.0;

/// `bench faucet`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Wallets that claim at once.
    #[arg(long, default_value_t = 500)]
    wallets: usize,
    /// Binary to measure instead of the one that cargo builds.
    #[arg(long)]
    chainnet: Option<PathBuf>,
}

pub(crate) async fn run(options: Options) -> Result<()> {
    let binary = peer::our_binary(options.chainnet).await?;
    let data = TempDir::new()?;
    // The public test network, where nobody needs a key; every wallet comes from an address of its own.
    let arguments =
        ["--network", "testnet", "--faucet-daily-cap", "100000000", "--trusted-proxies", "127.0.0.0/8"];
    let app = AppProcess::up(&binary, data.path(), arguments).await?;
    let faucet = app.server().announced(MARKER).context("the product runs without its faucet")?;
    let node = app.node().context("the product runs without its node")?;
    while node.block_number().await? == 0 {
        tokio::task::yield_now().await;
    }

    let (first_block, started) = (node.block_number().await?, Instant::now());
    let bar = progress::spinner(format!("{} claims", options.wallets));
    let mut claims = JoinSet::new();
    for index in 0..options.wallets {
        claims.spawn(claim(faucet, index));
    }
    let mut paid = Vec::with_capacity(options.wallets);
    while let Some(claim) = claims.join_next().await {
        paid.push(claim??);
    }
    let answered = started.elapsed();
    let mut last_block = first_block;
    for (_, hash) in &paid {
        let receipt = node.wait_receipt(*hash, Mining::Interval).await?;
        last_block = last_block.max(receipt.block_number.context("a receipt without a block")?);
    }
    bar.finish_and_clear();
    let amount = U256::from(COIN) * U256::from(10).pow(U256::from(18));
    for (wallet, _) in &paid {
        let balance: U256 = node.call("eth_getBalance", json!([wallet, "latest"])).await?;
        ensure!(balance == amount, "{wallet} has {balance} wei");
    }
    println!(
        "{}\n\n{} wallets claimed at once, each was paid {COIN} coin once.\n",
        machine::description(),
        paid.len()
    );
    let blocks = (last_block - first_block) as f64;
    table::print(
        &[
            row("blocks until the last was paid", Unit::Count, blocks, Target::AtMost(BLOCKS)),
            row("all claims answered after", Unit::Millis, answered.as_secs_f64() * 1e3, Target::None),
        ],
        "–",
    );
    Ok(())
}

fn row(metric: &str, unit: Unit, ours: f64, target: Target) -> Row {
    Row { metric: metric.to_owned(), unit, ours: Some(ours), peer: None, target }
}

async fn claim(faucet: SocketAddr, index: usize) -> Result<(Address, B256)> {
    let wallet = Address::from_word(keccak256(format!("bench wallet {index}")));
    let from = format!("10.{}.{}.1", index / 256, index % 256);
    let body = json!({ "address": wallet, "website": "" }).to_string();
    let mut connection = Connection::open(faucet).await?;
    let answer = connection.exchange(&post("/claim", &[("x-forwarded-for", &from)], &body)).await?;
    let answer: Value = serde_json::from_slice(answer)?;
    let hash = answer.get("txHash").and_then(Value::as_str).context("a claim without a hash")?;
    Ok((wallet, hash.parse()?))
}
