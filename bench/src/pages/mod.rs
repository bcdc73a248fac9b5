//! `bench pages`: pages rendered per second beside a bare axum handler that returns the same bytes, and what many
//! watchers of the home page cost.
//!
//! Visitors have a limit each, so requests come from many addresses, as behind a proxy.

mod listeners;

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use alloy_primitives::U256;
use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;
use tempfile::TempDir;
use testkit::{AppProcess, Draft, Wallet};

use crate::{
    api::bare,
    load::{self, Server, Until},
    machine, peer, progress,
    table::{self, Row, Target, Unit},
};

/// What the process prints in front of the explorer's address.
const MARKER: &str = "Explorer";
/// Transactions in the block that is shown.
const TRANSACTIONS: usize = 20;
/// Addresses that visitors come from.
const VISITORS: u16 = 10_000;
/// Pages of a kind that must be rendered in a second.
const PAGES_PER_SECOND: f64 = 5_000.0;

/// `bench pages`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Rounds; the table shows medians.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seconds of load per figure and round.
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// Watchers of the home page.
    #[arg(long, default_value_t = 2_000)]
    listeners: usize,
    /// Binary to measure instead of the one that cargo builds.
    #[arg(long)]
    chainnet: Option<PathBuf>,
}

/// A page, as requests of many visitors.
struct Subject {
    name: &'static str,
    requests: Arc<Vec<Vec<u8>>>,
    target: Target,
}

pub(crate) async fn run(options: Options) -> Result<()> {
    let binary = peer::our_binary(options.chainnet.clone()).await?;
    let mut rows = Vec::new();
    // A process of its own: memory that pages have left behind would be counted, or be used again.
    let fresh = Explorer::start(&binary).await?;
    rows.extend(listeners::measure(&fresh, options.listeners).await?);
    drop(fresh);

    let explorer = Explorer::start(&binary).await?;
    let block = block_with_transactions(&explorer.app).await?;
    let subjects = [
        subject(
            "block page with 20 transactions",
            &format!("/block/{block}"),
            Target::AtLeast(PAGES_PER_SECOND),
        ),
        subject("home page", "/", Target::None),
        subject("list of blocks", "/blocks", Target::None),
    ];
    for subject in &subjects {
        rows.extend(compare(explorer.server, subject, &options).await?);
    }
    println!("{}\n", machine::description());
    table::print(&rows, "bare axum");
    Ok(())
}

/// The product with its pages, whose limits count visitors behind a proxy; stopped when dropped.
struct Explorer {
    app: AppProcess,
    server: Server,
    _data: TempDir,
}

impl Explorer {
    async fn start(binary: &PathBuf) -> Result<Self> {
        let data = TempDir::new()?;
        let visitors = ["--trusted-proxies", "127.0.0.0/8", "--internal-allowlist", "127.0.0.0/8,10.0.0.0/8"];
        let app = AppProcess::up(binary, data.path(), visitors).await?;
        app.api().wait_for("/ready", |answer| answer.status.is_success()).await?;
        let address: SocketAddr =
            app.server().announced(MARKER).context("the product runs without its pages")?;
        let server = Server { address, pid: app.server().pid() };
        Ok(Self { app, server, _data: data })
    }
}

fn subject(name: &'static str, path: &str, target: Target) -> Subject {
    Subject { name, requests: Arc::new((0..VISITORS).map(|visitor| get(path, visitor)).collect()), target }
}

/// A visitor's request.
fn get(path: &str, visitor: u16) -> Vec<u8> {
    let [high, low] = visitor.to_be_bytes();
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\nx-forwarded-for: 10.0.{high}.{low}\r\n\r\n")
        .into_bytes()
}

/// Ours, then the bare handler with the page that ours gave, in turns.
async fn compare(server: Server, subject: &Subject, options: &Options) -> Result<Vec<Row>> {
    let time = Duration::from_secs(options.seconds);
    let first = subject.requests.first().context("no request")?;
    let page = load::ask(server, first).await?;
    ensure!(page.starts_with(b"<!doctype html>"), "{} is no page", subject.name);
    let bare = bare::start(&page).await?;
    let (mut ours, mut theirs, mut cpu) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..options.rounds {
        let bar = progress::spinner(format!("{}, {} s", subject.name, time.as_secs()));
        // Connections, caches and branch predictors settle before the clock starts.
        load::send(server, &subject.requests, Until::Elapsed(time / 10), &bar).await?;
        let cost = load::send(server, &subject.requests, Until::Elapsed(time), &bar).await?;
        ours.push(cost.per_second());
        cpu.push(cost.cpu_micros());
        theirs.push(
            load::send(bare.server(), &subject.requests, Until::Elapsed(time), &bar).await?.per_second(),
        );
        bar.finish_and_clear();
    }
    let row = |metric, unit, ours, peer, target| Row { metric, unit, ours, peer, target };
    let kilobytes = page.len() as f64 / 1e3;
    Ok(vec![
        row(
            format!("{} ({kilobytes:.1} kB) per second", subject.name),
            Unit::PerSecond,
            table::median(ours),
            table::median(theirs),
            subject.target,
        ),
        row(format!("server CPU per {}", subject.name), Unit::Micros, table::median(cpu), None, Target::None),
    ])
}

/// Fills a block and returns its number.
async fn block_with_transactions(app: &AppProcess) -> Result<u64> {
    let node = app.node().context("the product runs without its node")?;
    let mut wallet = Wallet::dev(0);
    // Right after a head, so that all of them fall into the next block.
    let before = node.block_number().await?;
    while node.block_number().await? == before {
        tokio::task::yield_now().await;
    }
    let mut last = None;
    for index in 0..TRANSACTIONS {
        let to = Wallet::dev(1 + index % 9).address();
        last = Some(node.send_raw(&wallet.sign_dynamic_fee(Draft::transfer(to, U256::ONE)).raw).await?);
    }
    let path = format!("/api/v1/transactions/{}", last.context("nothing was sent")?);
    let number = |answer: &Value| answer.get("blockNumber").and_then(Value::as_u64);
    let mined = app.api().wait_for(&path, |answer| number(&answer.json()).is_some()).await?;
    number(&mined.json()).context("a mined transaction without a block")
}
