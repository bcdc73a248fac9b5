//! `bench api`: hot reads of the API beside a bare axum handler that returns the same bytes, and what an idle product
//! costs.
//!
//! Both servers are processes of their own, asked by the same client in turns: ours over its real port, with its limits,
//! headers and caches; the bare one with nothing but the bytes.

pub(crate) mod bare;

use std::{
    path::PathBuf,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use clap::Args;
use serde_json::Value;
use tempfile::TempDir;
use testkit::{AppProcess, Draft, Wallet};

pub(crate) use bare::{BareOptions, serve as serve_bare};

use crate::{
    load::{self, Server, Until},
    machine, peer, progress,
    table::{self, Row, Target, Unit},
    usage,
};

/// Transactions in the block that is read.
const TRANSACTIONS: usize = 20;
/// A minute's limit that no load reaches.
const NO_LIMIT: &str = "4000000000";
/// Time for a fresh product to settle before its memory is read.
const SETTLING: Duration = Duration::from_secs(10);

/// `bench api`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Rounds; the table shows medians.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seconds of load per figure and round.
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// Binary to measure instead of the one that cargo builds.
    #[arg(long)]
    chainnet: Option<PathBuf>,
}

/// A question and how fast it must be answered, as a part of the bare handler's speed.
struct Subject {
    name: &'static str,
    request: Vec<u8>,
    target: f64,
}

/// What both sides did with a subject in one round, in requests per second.
struct Speeds {
    ours: f64,
    bare: f64,
}

pub(crate) async fn run(options: Options) -> Result<()> {
    let binary = peer::our_binary(options.chainnet).await?;
    let data = TempDir::new()?;
    let started = Instant::now();
    let app = AppProcess::up(&binary, data.path(), ["--rate-limit-max", NO_LIMIT]).await?;
    app.api().wait_for("/ready", |answer| answer.status.is_success()).await?;
    let ready = started.elapsed();
    let bar = progress::spinner("settling".to_owned());
    tokio::time::sleep(SETTLING).await;
    bar.finish_and_clear();
    let idle_bytes = usage::resident_bytes(app.server().pid())?;

    let subjects = subjects(&app).await?;
    let mut rows = vec![
        row("ready after the start", Unit::Millis, ready.as_secs_f64() * 1e3, Target::AtMost(1000.0)),
        row("resident memory when idle", Unit::Megabytes, idle_bytes as f64 / 1e6, Target::AtMost(120.0)),
    ];
    for subject in &subjects {
        let mut speeds = Vec::with_capacity(options.rounds);
        for _ in 0..options.rounds {
            speeds.push(measure(&app, subject, Duration::from_secs(options.seconds)).await?);
        }
        rows.push(Row {
            metric: format!("{} answered per second", subject.name),
            unit: Unit::PerSecond,
            ours: table::median(speeds.iter().map(|speed| speed.ours)),
            peer: table::median(speeds.iter().map(|speed| speed.bare)),
            target: Target::AtLeastTimes(subject.target),
        });
    }
    println!("{}\n", machine::description());
    table::print(&rows, "bare axum");
    Ok(())
}

fn row(metric: &str, unit: Unit, ours: f64, target: Target) -> Row {
    Row { metric: metric.to_owned(), unit, ours: Some(ours), peer: None, target }
}

/// The reads of the target, on a block with transactions.
async fn subjects(app: &AppProcess) -> Result<Vec<Subject>> {
    let node = app.node().context("the product runs without its node")?;
    let mut wallet = Wallet::dev(0);
    let mut last = None;
    for index in 0..TRANSACTIONS {
        let to = Wallet::dev(1 + index % 9).address();
        let signed = wallet.sign_dynamic_fee(Draft::transfer(to, alloy_primitives::U256::ONE));
        last = Some(node.send_raw(&signed.raw).await?);
    }
    let hash = last.context("nothing was sent")?;
    let path = format!("/api/v1/transactions/{hash}");
    let mined = app.api().wait_for(&path, |answer| block_of(&answer.json()).is_some()).await?;
    let number = block_of(&mined.json()).context("a mined transaction without a block")?;
    let get = |name, path: &str| Subject { name, request: get(path), target: 0.7 };
    Ok(vec![
        get("`/chain`", "/api/v1/chain"),
        get("`/blocks/latest`", "/api/v1/blocks/latest"),
        get("`/blocks/:number`", &format!("/api/v1/blocks/{number}")),
        get("`/transactions/:hash`", &path),
        get("`/validators`", "/api/v1/validators"),
        Subject {
            name: "GraphQL `latestBlock`",
            request: post("/graphql", r#"{"query":"{ latestBlock { number hash transactionCount } }"}"#),
            target: 0.4,
        },
    ])
}

/// The number of a mined transaction's block.
fn block_of(transaction: &Value) -> Option<u64> {
    transaction.get("blockNumber")?.as_u64()
}

/// One round: ours, then the bare handler with the bytes that ours gave.
async fn measure(app: &AppProcess, subject: &Subject, time: Duration) -> Result<Speeds> {
    let ours = Server { address: app.api().address(), pid: app.server().pid() };
    let body = load::ask(ours, &subject.request).await?;
    ensure!(!body.is_empty(), "{} has an empty answer", subject.name);
    let bare = bare::start(&body).await?;
    let requests = Arc::new(vec![subject.request.clone()]);
    Ok(Speeds {
        ours: per_second(subject.name, ours, &requests, time).await?,
        bare: per_second("bare axum", bare.server(), &requests, time).await?,
    })
}

async fn per_second(name: &str, server: Server, requests: &Arc<Vec<Vec<u8>>>, time: Duration) -> Result<f64> {
    let bar = progress::spinner(format!("{name}, {} s", time.as_secs()));
    // Connections, caches and branch predictors settle before the clock starts.
    load::send(server, requests, Until::Elapsed(time / 10), &bar).await?;
    let cost = load::send(server, requests, Until::Elapsed(time), &bar).await?;
    bar.finish_and_clear();
    Ok(cost.requests as f64 / cost.elapsed.as_secs_f64())
}

fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n").into_bytes()
}

fn post(path: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!("POST {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
        .into_bytes()
}
