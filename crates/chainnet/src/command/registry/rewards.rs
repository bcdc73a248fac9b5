//! `chainnet registry rewards`: a pool of coin for a range of blocks, divided and paid once.
//!
//! What each operator gets is stored before the first payment, and each payment's bytes before any node sees them. The same
//! command run again goes on where it was broken off; a range that shares a block with a rewarded one is refused.

use std::collections::BTreeSet;

use alloy_primitives::{Address, U256};
use alloy_signer_local::PrivateKeySigner;
use alloy_sol_types::SolCall;
use anyhow::{Context, bail, ensure};
use chain::{At, ChainClient, contract};
use contracts::PlatformValidatorRegistry as Registry;
use domain::Wei;
use jiff::Timestamp;
use serde_json::{Value, json};
use store::{
    Db, RewardPayment, RewardRun, RewardTransaction,
    index::{ContractEvent, EventFilter, EventKind},
};
use validators::rewards::{RewardCandidate, RewardShare, RewardShares};

use super::{
    Desk, MOST_RECORDS, Sender,
    plan::Right,
    refusal,
    send::{self, Draft, Signed},
    state::{ACTIVE, INACTIVE, JAILED},
};
use crate::{
    cli::Rewards,
    output::{say, say_note},
    process,
};

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
        print_plan(&divided, rewards, known.is_some())?;
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

async fn payer(desk: &Desk<'_>) -> anyhow::Result<PrivateKeySigner> {
    match desk.sender_with(Right::Admin, false).await? {
        Sender::Key(key) => Ok(key),
        Sender::Safe(safe) => bail!(
            "ADMIN_ROLE is with the treasury's Safe {safe}: pay each line of the plan with `chainnet registry distribute \
             OPERATOR AMOUNT --safe`"
        ),
    }
}

async fn check_funds(
    desk: &Desk<'_>,
    key: &PrivateKeySigner,
    amounts: impl Iterator<Item = Wei>,
) -> anyhow::Result<()> {
    let needed = amounts.fold(U256::ZERO, |sum, amount| sum.saturating_add(amount.0));
    let balance = desk.chain.account(key.address(), At::Head).await?.balance;
    ensure!(
        balance > needed,
        "{} has {} coin, and {} are needed, and some for gas",
        key.address(),
        Wei(balance),
        Wei(needed)
    );
    Ok(())
}

/// Refuses what the chain shows as paid already by somebody with another database.
async fn check_chain(db: &Db, rewards: &Rewards, shares: &[RewardShare]) -> anyhow::Result<()> {
    let filter = EventFilter { kinds: vec![EventKind::RewardsDistributed], ..EventFilter::default() };
    let events = db.contract_events(&filter, MOST_EVENTS).await?;
    let paid: BTreeSet<(Address, U256)> = events
        .into_iter()
        .filter(|row| row.block_number > rewards.to)
        .filter_map(|row| match row.event {
            ContractEvent::RewardsDistributed { operator, amount } => Some((operator, amount.0)),
            _ => None,
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

/// Pays what is not paid yet of a run.
async fn finish(desk: &Desk<'_>, db: &Db, run: &RewardRun, rewards: &Rewards) -> anyhow::Result<()> {
    let key = payer(desk).await?;
    let payments = db.reward_payments(run.id).await?;
    let open: Vec<_> = payments.iter().filter(|payment| payment.block_number.is_none()).collect();
    check_funds(desk, &key, open.iter().map(|payment| payment.amount)).await?;
    for payment in open {
        pay(desk, db, run, payment, &key).await.with_context(|| {
            format!("{} is not paid yet; the same command goes on where this one stopped", payment.operator)
        })?;
    }
    print_payments(run, &db.reward_payments(run.id).await?, rewards)
}

async fn pay(
    desk: &Desk<'_>,
    db: &Db,
    run: &RewardRun,
    payment: &RewardPayment,
    key: &PrivateKeySigner,
) -> anyhow::Result<()> {
    let signed = match &payment.transaction {
        Some(former) if !is_lost(desk, former).await? => {
            Signed { raw: former.raw.clone(), hash: former.hash }
        }
        former => sign(desk, db, run, (payment, former.as_ref()), key).await?,
    };
    let mined = send::deliver(&desk.chain, signed).await?;
    if let Some(reason) = &mined.reverted {
        let reason = refusal::in_words(reason.as_ref());
        bail!("the registry refused transaction {} in block {}: {reason}", mined.hash, mined.block);
    }
    db.settle_reward((run.id, payment.operator), (mined.hash, mined.block), now()).await?;
    Ok(())
}

/// Whether a transaction can never pay: another one took its nonce, or the registry refused it.
async fn is_lost(desk: &Desk<'_>, former: &RewardTransaction) -> anyhow::Result<bool> {
    // In this order: what is mined by then is found after it.
    let head = desk.chain.heads().borrow().as_ref().map_or(0, |head| head.number());
    let mined = desk.chain.account(former.signer, At::Number(head)).await?.nonce;
    Ok(match send::find(&desk.chain, former.hash).await? {
        Some(found) => found.reverted.is_some(),
        None => mined > former.nonce,
    })
}

async fn sign(
    desk: &Desk<'_>,
    db: &Db,
    run: &RewardRun,
    (payment, former): (&RewardPayment, Option<&RewardTransaction>),
    key: &PrivateKeySigner,
) -> anyhow::Result<Signed> {
    let nonce = send::next_nonce(&desk.chain, key.address()).await?;
    let (operator, amount) = (payment.operator, payment.amount.0);
    let input = Registry::distributeRewardsCall { operator, amount }.abi_encode();
    let request = json!([{
        "from": key.address(),
        "to": desk.registry,
        "value": format!("{amount:#x}"),
        "data": alloy_primitives::Bytes::from(input.clone()),
    }]);
    let gas = desk.try_out("eth_estimateGas", &request).await?;
    let gas: U256 = serde_json::from_value(gas).context("the node's estimate is not understood")?;
    let gas = u64::try_from(gas).unwrap_or(u64::MAX);
    let draft = Draft { to: desk.registry, value: amount, input: input.into(), gas };
    let signed = send::sign(&desk.chain, key, nonce, draft).await?;
    let stored =
        RewardTransaction { signer: key.address(), nonce, raw: signed.raw.clone(), hash: signed.hash };
    let former = former.map(|former| former.hash);
    let is_ours = db.sign_reward((run.id, operator), former, &stored, now()).await?;
    ensure!(is_ours, "another process pays these rewards at the same time");
    Ok(signed)
}

fn now() -> u64 {
    u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0)
}

fn print_plan(divided: &RewardShares, rewards: &Rewards, is_begun: bool) -> anyhow::Result<()> {
    if rewards.json {
        let shares: Vec<Value> = divided.shares.iter().map(share_view).collect();
        say(serde_json::to_string_pretty(&json!({
            "from": rewards.from,
            "to": rewards.to,
            "pool": rewards.pool.to_string(),
            "rest": divided.rest.to_string(),
            "shares": shares,
            "sent": false,
        }))?);
        return Ok(());
    }
    say(format!("blocks {} to {}, {} coin", rewards.from, rewards.to, rewards.pool));
    for RewardShare { candidate, amount } in &divided.shares {
        say(format!(
            "{}  {:>7} blocks  uptime {}  commission {}  {amount:>28}  {}",
            candidate.operator,
            candidate.proposed,
            percent(candidate.uptime_ppm(), 1_000_000),
            percent(candidate.commission_bps.into(), 10_000),
            candidate.moniker
        ));
    }
    say(format!("rest, which does not divide and stays with the payer: {}", divided.rest));
    say(
        "the operator gets all of its share; commission is what it keeps of it where it settles with delegators",
    );
    say(if is_begun {
        "nothing was sent; these rewards were begun before, --yes pays what is left of them"
    } else {
        "nothing was sent; --yes sends it"
    });
    Ok(())
}

fn share_view(RewardShare { candidate, amount }: &RewardShare) -> Value {
    json!({
        "operator": candidate.operator.to_string(),
        "moniker": candidate.moniker,
        "proposedBlocks": candidate.proposed,
        "keptTurns": candidate.kept,
        "missedTurns": candidate.missed,
        "uptimePpm": candidate.uptime_ppm(),
        "commissionBps": candidate.commission_bps,
        "amount": amount.to_string(),
        "amountWei": amount.0.to_string(),
    })
}

/// Hundredths of a percent, rounded down.
fn percent(part: u64, whole: u64) -> String {
    let hundredths = part.saturating_mul(10_000).checked_div(whole).unwrap_or(0);
    format!("{}.{:02}%", hundredths / 100, hundredths % 100)
}

fn print_payments(run: &RewardRun, payments: &[RewardPayment], rewards: &Rewards) -> anyhow::Result<()> {
    let paid = payments.iter().fold(U256::ZERO, |sum, payment| sum.saturating_add(payment.amount.0));
    let rest = Wei(run.pool.0.saturating_sub(paid));
    if rewards.json {
        let payments: Vec<Value> = payments
            .iter()
            .map(|payment| {
                json!({
                    "operator": payment.operator.to_string(),
                    "amount": payment.amount.to_string(),
                    "transaction": payment.transaction.as_ref().map(|transaction| transaction.hash),
                    "block": payment.block_number,
                })
            })
            .collect();
        say(serde_json::to_string_pretty(&json!({
            "from": run.from_block,
            "to": run.to_block,
            "pool": run.pool.to_string(),
            "rest": rest.to_string(),
            "payments": payments,
            "sent": true,
        }))?);
        return Ok(());
    }
    for payment in payments {
        let hash = payment.transaction.as_ref().map(|transaction| transaction.hash.to_string());
        say(format!(
            "{}  {:>28}  block {}  {}",
            payment.operator,
            payment.amount.to_string(),
            payment.block_number.unwrap_or(0),
            hash.unwrap_or_default()
        ));
    }
    say(format!("all {} operators are paid; {rest} did not divide and stays with the payer", payments.len()));
    Ok(())
}
