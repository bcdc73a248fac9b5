//! `bench gateway`: the gateway beside the node that it stands before, and beside nginx in its place.
//!
//! Everything is a process of its own, asked by the same client in turns. The gateway does all that it does in life: a key,
//! its limit, the method filter, one head for all. nginx passes bytes on and does nothing else.

mod batch;
mod front;
mod nginx;
mod push;
mod serial;
mod stage;

use std::{path::PathBuf, sync::Arc, time::Duration};

use alloy_primitives::{Address, keccak256};
use anyhow::Result;
use clap::Args;

pub(crate) use serial::{SerialOptions, serve as serve_serially};

use self::{front::Front, nginx::Nginx, stage::Stage};
use crate::{
    http::request,
    load::{self, Cost, Server, Until},
    machine,
    peer::{self, Peer},
    progress,
    table::{self, Row, Target, Unit},
};

/// Accounts asked for when no answer is to be found in a cache: more than are asked for between two heads.
const STRANGERS: usize = 150_000;

/// `bench gateway`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Rounds; the tables show medians.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Seconds of load per figure and round.
    #[arg(long, default_value_t = 3)]
    seconds: u64,
    /// WebSocket subscribers of `newHeads`.
    #[arg(long, default_value_t = 5_000)]
    subscribers: usize,
    /// Binary to measure instead of the one that cargo builds.
    #[arg(long)]
    chainnet: Option<PathBuf>,
}

/// How often each load is repeated, and for how long.
#[derive(Debug, Clone, Copy)]
struct Effort {
    rounds: usize,
    time: Duration,
}

pub(crate) async fn run(options: Options) -> Result<()> {
    let binary = peer::our_binary(options.chainnet).await?;
    let effort = Effort { rounds: options.rounds, time: Duration::from_secs(options.seconds) };
    println!("{}", machine::description());

    let anvil = Stage::prepare(&Peer::anvil()?).await?;
    let front = Front::start(&binary, anvil.node.address()).await?;
    println!("\nBefore Anvil, beside Anvil asked directly:\n");
    table::print(&reads(&front, &anvil, [3.0, 3.0, 1.0], effort).await?, "Anvil");
    drop(front);
    println!("\nA batch, beside a node that runs it one call after the other:\n");
    table::print(&batch::measure(&binary, &anvil).await?, "the node");
    drop(anvil);

    let ours = Stage::prepare(&Peer::Ours(binary.clone())).await?;
    let front = Front::start(&binary, ours.node.address()).await?;
    println!("\nBefore our own node, beside that node asked directly:\n");
    table::print(&reads(&front, &ours, [0.9, 0.9, 0.9], effort).await?, "our node");
    println!("\nReads that no cache has, before our own node, beside nginx in the same place:\n");
    table::print(&misses(&front, &ours, effort).await?, "nginx");
    // A fresh one, whose memory has not seen the loads before.
    let front = Front::start(&binary, ours.node.address()).await?;
    println!("\nWebSocket subscribers of `newHeads`:\n");
    table::print(&push::measure(&front, ours.node.address(), options.subscribers).await?, "–");
    Ok(())
}

/// Reads that everybody repeats; the targets are those of `eth_call`, a full block and the block number.
async fn reads(front: &Front, stage: &Stage, targets: [f64; 3], effort: Effort) -> Result<Vec<Row>> {
    let questions = [
        ("eth_call", stage.call_params()),
        ("eth_getBlockByNumber", format!(r#"["{:#x}",true]"#, stage.full_block)),
        ("eth_blockNumber", "[]".to_owned()),
    ];
    let mut rows = Vec::new();
    for ((method, params), target) in questions.into_iter().zip(targets) {
        let through =
            Load { server: front.server(), requests: Arc::new(vec![front.request(method, &params)]) };
        let direct = Load { server: stage.node.server(), requests: Arc::new(vec![request(method, &params)]) };
        rows.extend(compare(method, &through, &direct, target, effort).await?);
    }
    Ok(rows)
}

/// Reads that must be passed on, each about another account.
async fn misses(front: &Front, stage: &Stage, effort: Effort) -> Result<Vec<Row>> {
    let nginx = Nginx::start(stage.node.address()).await?;
    let params: Vec<String> = (0..STRANGERS)
        .map(|index| format!(r#"["{}","latest"]"#, Address::from_word(keccak256(index.to_be_bytes()))))
        .collect();
    let method = "eth_getBalance";
    let through = Load {
        server: front.server(),
        requests: Arc::new(params.iter().map(|params| front.request(method, params)).collect()),
    };
    let plain = Arc::new(params.iter().map(|params| request(method, params)).collect());
    let by_nginx = Load { server: nginx.server(), requests: Arc::clone(&plain) };
    let mut rows = compare(method, &through, &by_nginx, 1.0, effort).await?;
    nginx.stop().await?;
    let direct = Load { server: stage.node.server(), requests: plain };
    let bare = direct.run(effort.time).await?;
    rows.push(Row {
        metric: format!("{method} asked of the node directly, for comparison"),
        unit: Unit::PerSecond,
        ours: Some(bare.per_second()),
        peer: None,
        target: Target::None,
    });
    Ok(rows)
}

/// Requests and who answers them.
struct Load {
    server: Server,
    requests: Arc<Vec<Vec<u8>>>,
}

impl Load {
    async fn run(&self, time: Duration) -> Result<Cost> {
        let bar = progress::spinner(format!("{} s of load", time.as_secs()));
        // Connections and caches settle before the clock starts.
        load::send(self.server, &self.requests, Until::Elapsed(time / 10), &bar).await?;
        let cost = load::send(self.server, &self.requests, Until::Elapsed(time), &bar).await?;
        bar.finish_and_clear();
        Ok(cost)
    }
}

async fn compare(method: &str, ours: &Load, peer: &Load, target: f64, effort: Effort) -> Result<Vec<Row>> {
    let (mut of_ours, mut of_peer) = (Vec::new(), Vec::new());
    for _ in 0..effort.rounds {
        of_ours.push(ours.run(effort.time).await?);
        of_peer.push(peer.run(effort.time).await?);
    }
    let row = |what: &str, unit: Unit, target: Target, figure: fn(&Cost) -> f64| Row {
        metric: format!("{method} {what}"),
        unit,
        ours: table::median(of_ours.iter().map(figure)),
        peer: table::median(of_peer.iter().map(figure)),
        target,
    };
    Ok(vec![
        row("answered per second", Unit::PerSecond, Target::AtLeastTimes(target), Cost::per_second),
        row("CPU of the asked process", Unit::Micros, Target::None, Cost::cpu_micros),
        row("p99", Unit::Micros, Target::None, |cost| cost.p99.as_secs_f64() * 1e6),
    ])
}
