//! What `chainnet registry rewards` prints.

use alloy_primitives::U256;
use domain::Wei;
use serde_json::{Value, json};
use store::{RewardPayment, RewardRun};
use validators::rewards::{RewardShare, RewardShares};

use crate::{cli::Rewards, output::say};

/// The plan, before anything is sent.
pub(super) fn plan(divided: &RewardShares, rewards: &Rewards, is_begun: bool) -> anyhow::Result<()> {
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

/// What was paid.
pub(super) fn payments(run: &RewardRun, payments: &[RewardPayment], rewards: &Rewards) -> anyhow::Result<()> {
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
