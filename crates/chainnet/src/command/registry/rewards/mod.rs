//! `chainnet registry rewards`: a pool of coin for a range of blocks, divided and paid once.
//!
//! What each operator gets is stored before the first payment, and each payment's bytes before any node sees them. The same
//! command run again goes on where it was broken off; a range that shares a block with a rewarded one is refused.

mod pay;
mod print;

use std::collections::BTreeSet;

use alloy_primitives::{Address, U256};
use anyhow::{Context, bail, ensure};
use chain::{At, contract};
use contracts::PlatformValidatorRegistry as Registry;
use jiff::Timestamp;
use store::{
    Db, RewardRun,
    index::{ContractEvent, EventFilter, EventKind},
};
use validators::rewards::{RewardCandidate, RewardShare, RewardShares};

use self::pay::{check_funds, finish, payer};
use super::{
    Desk, MOST_RECORDS,
    state::{ACTIVE, INACTIVE, JAILED},
};
use crate::{cli::Rewards, output::say_note, process};

/// Events that are compared with what is about to be paid.
const MOST_EVENTS: u32 = 1_000;

/// Carries the command out.
pub(super) async fn run(desk: &Desk<'_>, rewards: &Rewards) -> anyhow::Result<()> {
    ensure!(rewards.from <= rewards.to, "--from must not be above --to");
    let db = process::open_database(desk.config).await?;
    let done = distribute(desk, &db, rewards).await;
    db.close().await;
    done
}

async fn distribute(desk: &Desk<'_>, db: &Db, rewards: &Rewards) -> anyhow::Result<()> {
    let known = find_run(db, rewards).await?;
    let is_sent = rewards.yes && !rewards.dry_run;
    if let (Some(run), true) = (&known, is_sent) {
        say_note("these rewards were begun before; what is left of them is paid");
        return finish(desk, db, run, rewards).await;
    }
    let divided = divide(desk, db, rewards).await?;
    if !is_sent {
        print::plan(&divided, rewards, known.is_some())?;
        return Ok(());
    }
    ensure!(!divided.shares.is_empty(), "nobody who can be paid has built a block in this range");
    let (sender, shares) = (payer(desk).await?, &divided.shares);
    check_funds(desk, &sender, shares.iter().map(|share| share.amount)).await?;
    check_chain(db, rewards, shares).await?;
    let parts: Vec<_> = shares.iter().map(|share| (share.candidate.operator, share.amount)).collect();
    let run = db.begin_rewards((rewards.from, rewards.to), rewards.pool, &parts, now()).await?;
    let run = run.context("somebody else has just begun to reward this range")?;
    finish(desk, db, &run, rewards).await
}

/// The run of this very range, if it was begun.
async fn find_run(db: &Db, rewards: &Rewards) -> anyhow::Result<Option<RewardRun>> {
    let mut runs = db.reward_runs(rewards.from, rewards.to).await?.into_iter();
    let Some(run) = runs.next() else { return Ok(None) };
    let RewardRun { from_block, to_block, pool, .. } = run;
    if (from_block, to_block) != (rewards.from, rewards.to) {
        bail!("blocks {from_block} to {to_block} were rewarded already; ranges must not share a block");
    }
    ensure!(
        pool == rewards.pool,
        "this range was begun with a pool of {pool}; that cannot be changed any more"
    );
    Ok(Some(run))
}

/// Divides the pool by what the index says of the range.
async fn divide(desk: &Desk<'_>, db: &Db, rewards: &Rewards) -> anyhow::Result<RewardShares> {
    let indexed = db.index_head().await?.map(|head| head.number);
    ensure!(
        indexed.is_some_and(|indexed| rewards.to <= indexed),
        "the index is at block {}, and --to is {}: wait for it, or name an earlier block",
        indexed.unwrap_or(0),
        rewards.to
    );
    let work = db.work_between(rewards.from, rewards.to).await?;
    let page = Registry::getValidatorsCall { offset: U256::ZERO, limit: U256::from(MOST_RECORDS) };
    let records = contract::call(&desk.chain, desk.registry, &page, At::Head).await?;
    // Who was slashed out or removed cannot be paid, and its blocks count for nobody.
    let payable = records.into_iter().filter(|record| [ACTIVE, JAILED, INACTIVE].contains(&record.status));
    let candidates = payable.filter_map(|record| {
        let work = work.get(&record.consensus)?;
        Some(RewardCandidate {
            operator: record.operator,
            moniker: record.moniker,
            commission_bps: record.commissionBps,
            proposed: work.proposed,
            kept: work.kept,
            missed: work.missed,
        })
    });
    Ok(RewardShares::divide(rewards.pool, candidates.collect()))
}

/// Refuses what the chain shows as paid already by somebody with another database.
async fn check_chain(db: &Db, rewards: &Rewards, shares: &[RewardShare]) -> anyhow::Result<()> {
    let filter = EventFilter { kinds: vec![EventKind::RewardsDistributed], ..EventFilter::default() };
    let events = db.contract_events(&filter, MOST_EVENTS).await?;
    let paid: BTreeSet<(Address, U256)> = events
        .into_iter()
        .filter(|row| row.block_number > rewards.to)
        .filter_map(|row| {
            let ContractEvent::RewardsDistributed { operator, amount } = row.event else { return None };
            Some((operator, amount.0))
        })
        .collect();
    let is_paid = |share: &RewardShare| paid.contains(&(share.candidate.operator, share.amount.0));
    if shares.iter().all(is_paid) {
        bail!(
            "the chain shows payments of exactly these amounts to exactly these operators after block {}: this range was \
             paid with another database",
            rewards.to
        );
    }
    Ok(())
}

fn now() -> u64 {
    u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0)
}
