//! The node beside Anvil: rounds in turns, medians, the table.

use std::{path::PathBuf, time::Duration};

use anyhow::{Context, Result};

use crate::{
    machine,
    peer::{Peer, Running},
    reads::{self, ReadCost},
    startup,
    table::{self, Row, Target, Unit, median},
    transfers::{self, Mined, Plan, Sizes},
    usage,
};

/// What to measure.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// One round of a smaller load, to see that everything works; its figures are not to be quoted.
    #[arg(long)]
    quick: bool,
    /// Rounds per node; the median is shown.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Our binary; built by cargo if not given.
    #[arg(long)]
    chainnet: Option<PathBuf>,
    /// Measure one node only.
    #[arg(long)]
    only: Option<Side>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Side {
    Ours,
    Anvil,
}

/// How large the load is.
#[derive(Debug, Clone, Copy)]
struct Scale {
    sizes: Sizes,
    /// Length of each read load.
    reads: Duration,
    startups: usize,
}

const FULL: Scale = Scale {
    sizes: Sizes { senders: 2_000, main: 20_000, large_block: 10_000, read_block: 1_000, long: 100_000 },
    reads: Duration::from_secs(5),
    startups: 7,
};
const QUICK: Scale = Scale {
    sizes: Sizes { senders: 200, main: 2_000, large_block: 1_000, read_block: 1_000, long: 4_000 },
    reads: Duration::from_secs(1),
    startups: 2,
};

/// All figures of one round on one node.
struct Round {
    first_answer_millis: f64,
    mined: Mined,
    resident_bytes: u64,
    /// Per transfer.
    disk_bytes: f64,
    large_block: Mined,
    long: Mined,
    call: ReadCost,
    block_number: ReadCost,
    full_block: ReadCost,
}

pub(crate) async fn run(options: Options) -> Result<()> {
    let scale = if options.quick { QUICK } else { FULL };
    let rounds = if options.quick { 1 } else { options.rounds };
    let mut peers = Vec::new();
    if options.only != Some(Side::Anvil) {
        peers.push((Peer::ours(options.chainnet).await?, Vec::new()));
    }
    if options.only != Some(Side::Ours) {
        peers.push((Peer::anvil()?, Vec::new()));
    }
    let plan = Plan::sign(scale.sizes)?;
    for round in 1..=rounds {
        for (peer, results) in &mut peers {
            eprintln!("round {round} of {rounds}: {}", peer.name());
            results.push(
                measure(peer, &plan, scale).await.with_context(|| format!("measuring {}", peer.name()))?,
            );
        }
    }
    let of =
        |name: &str| peers.iter().find(|(peer, _)| peer.name() == name).map_or(&[][..], |(_, rounds)| rounds);
    println!("{}", machine::description());
    println!(
        "{} transfers, then {} more, {rounds} rounds in turns, medians{}\n",
        scale.sizes.main,
        scale.sizes.long,
        if options.quick { " (quick)" } else { "" }
    );
    table::print(&rows(of("ours"), of("Anvil"), scale.sizes), "Anvil");
    println!();
    for (peer, rounds) in &peers {
        print_large_block(peer, rounds, scale.sizes.large_block);
    }
    Ok(())
}

async fn measure(peer: &Peer, plan: &Plan, scale: Scale) -> Result<Round> {
    let mut starts = Vec::new();
    for _ in 0..scale.startups {
        starts.push(startup::first_answer(peer).await?.as_secs_f64() * 1_000.0);
    }
    let name = peer.name();
    let mut node = peer.start().await?;
    let fresh_disk = usage::disk_bytes(node.folder.path())?;
    plan.set_up(&node, name).await?;
    let mined = transfers::send_until_mined(&node, &plan.main, format!("{name}: transfers")).await?;
    let resident_bytes = usage::resident_bytes(node.pid())?;

    let large_block =
        transfers::send_until_mined(&node, &plan.large_block, format!("{name}: one large block")).await?;
    let read_block =
        transfers::send_until_mined(&node, &plan.read_block, format!("{name}: a block to read")).await?;
    let largest = read_block.blocks.iter().max_by_key(|block| block.transactions).context("no block")?;
    let block_number = reads::block_number(&node, scale.reads).await?;
    let call = reads::call(&node, plan.contract, scale.reads).await?;
    let full_block = reads::full_block(&node, largest.number, scale.reads).await?;
    let long = transfers::send_until_mined(&node, &plan.long, format!("{name}: many blocks")).await?;
    let disk_bytes = disk_bytes_per_transfer(&mut node, fresh_disk, plan.transactions()).await?;
    Ok(Round {
        first_answer_millis: median(starts).context("no start")?,
        mined,
        resident_bytes,
        disk_bytes,
        large_block,
        long,
        call,
        block_number,
        full_block,
    })
}

/// What a transfer takes on disk once the node has stopped: our data directory, or the state and chain that Anvil
/// writes at its end.
async fn disk_bytes_per_transfer(node: &mut Running, fresh: u64, transfers: usize) -> Result<f64> {
    node.server.stop().await?;
    let grown = usage::disk_bytes(node.folder.path())?.saturating_sub(fresh);
    Ok(grown as f64 / transfers as f64)
}

fn rows(ours: &[Round], anvil: &[Round], sizes: Sizes) -> Vec<Row> {
    let transfers = sizes.main as f64;
    let row = |metric: &str, unit: Unit, target: Target, figure: &dyn Fn(&Round) -> Option<f64>| Row {
        metric: metric.to_owned(),
        unit,
        ours: median(ours.iter().filter_map(figure)),
        peer: median(anvil.iter().filter_map(figure)),
        target,
    };
    let long = sizes.long as f64;
    let half = Target::AtMostTimes(0.5);
    vec![
        row("transfers mined per second, 2 s blocks", Unit::PerSecond, Target::AtLeastTimes(3.0), &|r| {
            Some(transfers / r.mined.elapsed.as_secs_f64())
        }),
        row("the same with a load of many blocks", Unit::PerSecond, Target::AtLeastTimes(3.0), &|r| {
            Some(long / r.long.elapsed.as_secs_f64())
        }),
        row("server CPU per transfer", Unit::Micros, Target::None, &|r| Some(r.mined.cpu_micros)),
        row("server CPU per eth_call", Unit::Micros, half, &|r| Some(r.call.cpu_micros)),
        row("eth_call answered per second", Unit::PerSecond, Target::None, &|r| Some(r.call.per_second)),
        row("server CPU per eth_blockNumber", Unit::Micros, half, &|r| Some(r.block_number.cpu_micros)),
        row("eth_blockNumber answered per second", Unit::PerSecond, Target::None, &|r| {
            Some(r.block_number.per_second)
        }),
        row(
            "server CPU per eth_getBlockByNumber, 1,000 full transactions",
            Unit::Micros,
            Target::None,
            &|r| Some(r.full_block.cpu_micros),
        ),
        row("time to first answer, fresh data", Unit::Millis, Target::AtMost(150.0), &|r| {
            Some(r.first_answer_millis)
        }),
        row("resident memory after the transfers", Unit::Megabytes, Target::AtMost(60.0), &|r| {
            Some(r.resident_bytes as f64 / 1e6)
        }),
        row("bytes on disk per transfer", Unit::Bytes, Target::None, &|r| Some(r.disk_bytes)),
    ]
}

/// The large block of each round: whether all transfers fitted into one, and when it was there.
fn print_large_block(peer: &Peer, rounds: &[Round], wanted: usize) {
    for (round, result) in rounds.iter().enumerate() {
        let Some(block) = result.large_block.blocks.iter().max_by_key(|block| block.transactions) else {
            continue;
        };
        let whole = block.transactions == wanted as u64;
        let in_slot = block.gap_secs == 2 && block.seen_after_millis < 2_000;
        println!(
            "{}, round {}: block of {} transfers (wanted {wanted}), {} s after its parent, seen {} ms after its timestamp: {}",
            peer.name(),
            round + 1,
            block.transactions,
            block.gap_secs,
            block.seen_after_millis,
            if whole && in_slot { "inside its slot" } else { "NOT inside its slot" }
        );
    }
}
