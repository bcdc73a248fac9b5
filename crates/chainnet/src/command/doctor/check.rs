//! The single checks and how they are told.

use std::fmt;

use chain::{At, ChainClient, contract};
use contracts::PlatformFees::getTotalsCall;
use store::{Db, index::FeeTotals};

use crate::config::Config;

/// Blocks come every two seconds; a chain that stands still for longer has no quorum.
const STALE_SECS: i64 = 60;
/// How far a clock may be off before blocks are refused for it.
const SKEW_SECS: i64 = 5;
/// An index this close is following.
const CLOSE_BLOCKS: u64 = 10;

/// How a check came out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Ok,
    Warn,
    Fail,
}

impl Verdict {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }
}

/// What a check found, and what to do about it.
#[derive(Debug)]
pub(super) struct Finding {
    pub(super) check: &'static str,
    pub(super) verdict: Verdict,
    pub(super) found: String,
    pub(super) advice: Option<&'static str>,
}

impl Finding {
    pub(super) fn ok(check: &'static str, found: impl Into<String>) -> Self {
        Self { check, verdict: Verdict::Ok, found: found.into(), advice: None }
    }

    pub(super) fn warn(check: &'static str, found: impl Into<String>, advice: &'static str) -> Self {
        Self { check, verdict: Verdict::Warn, found: found.into(), advice: Some(advice) }
    }

    pub(super) fn fail(check: &'static str, found: impl Into<String>, advice: &'static str) -> Self {
        Self { check, verdict: Verdict::Fail, found: found.into(), advice: Some(advice) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<5} {:<14} {}", self.verdict.name(), self.check, self.found)?;
        match self.advice {
            Some(advice) => write!(f, "\n{:<20} → {advice}", ""),
            None => Ok(()),
        }
    }
}

/// This machine's clock against the newest block.
pub(super) fn clock(now: i64, block_time: u64) -> Finding {
    let age = now.saturating_sub_unsigned(block_time);
    if age < -SKEW_SECS {
        let found = format!("the newest block is {} s ahead of this machine", -age);
        Finding::fail("clock", found, "set this machine's clock, for example with an NTP service")
    } else if age > STALE_SECS {
        let found = format!("the newest block is {age} s old");
        Finding::warn("clock", found, "if this machine's clock is right, too few validators are running")
    } else {
        Finding::ok("clock", format!("the newest block is {} s old", age.max(0)))
    }
}

/// Code at every address of the deployment record.
pub(super) async fn contracts(config: &Config, client: &dyn ChainClient) -> Finding {
    let mut missing = Vec::new();
    for (name, address) in config.deployment().contracts.named() {
        match client.account(address, At::Head).await {
            Ok(account) if account.code.is_empty() => missing.push(name),
            Ok(_) => {}
            Err(error) => {
                let found = format!("{name} cannot be read: {:#}", anyhow::Error::from(error));
                return Finding::fail("contracts", found, "look into the node's log");
            }
        }
    }
    if missing.is_empty() {
        return Finding::ok("contracts", "code at every address of the deployment record");
    }
    let found = format!("no code at the address of {}", missing.join(", "));
    Finding::fail("contracts", found, "start the network from the genesis that `chainnet genesis` prints")
}

/// How far the index is behind the chain.
pub(super) fn index(indexed: Option<u64>, head: u64) -> Finding {
    let Some(indexed) = indexed else {
        return Finding::warn("index", "there is none yet", "start `chainnet up` or `chainnet worker`");
    };
    let behind = head.saturating_sub(indexed);
    let found = format!("at block {indexed}, {behind} behind the chain");
    if indexed > head {
        let found = format!("at block {indexed}, but the chain is at {head}");
        Finding::fail("index", found, "the node is behind, or of another chain than the index")
    } else if behind > CLOSE_BLOCKS {
        Finding::warn("index", found, "wait if a worker is catching up, otherwise start one")
    } else {
        Finding::ok("index", found)
    }
}

/// The index's sums of fees against the contract's own counters, at the same block.
pub(super) async fn fees(config: &Config, db: &Db, client: &dyn ChainClient) -> Finding {
    match compare_fees(config, db, client).await {
        Ok(finding) => finding,
        Err(error) => {
            Finding::fail("fees", format!("cannot be compared: {error:#}"), "look into the node's log")
        }
    }
}

async fn compare_fees(config: &Config, db: &Db, client: &dyn ChainClient) -> anyhow::Result<Finding> {
    let FeeTotals { as_of_block: Some(block), total, .. } = db.fee_totals().await? else {
        return Ok(Finding::warn(
            "fees",
            "nothing is indexed yet",
            "start `chainnet up` or `chainnet worker`",
        ));
    };
    let fees = config.deployment().contracts.platform_fees;
    let counter = contract::call(client, fees, &getTotalsCall {}, At::Number(block)).await?;
    let counted = (counter.count, counter.paid, counter.burned, counter.held);
    let indexed = (total.payments, total.collected.0, total.burned.0, total.held.0);
    if counted == indexed {
        return Ok(Finding::ok(
            "fees",
            format!("{} payments, as the contract counts them at block {block}", counter.count),
        ));
    }
    let found = format!(
        "at block {block} the index has {} payments of {}, the contract {} of {}",
        total.payments,
        total.collected,
        counter.count,
        domain::Wei(counter.paid)
    );
    Ok(Finding::fail("fees", found, "the index is wrong: drop it and let a worker build it again"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_behind_fails_and_a_chain_that_stands_still_is_warned_of() {
        assert_eq!(clock(1_000, 999).verdict, Verdict::Ok);
        assert_eq!(clock(1_000, 1_003).verdict, Verdict::Ok);
        assert_eq!(clock(1_000, 1_010).verdict, Verdict::Fail);
        assert_eq!(clock(1_000, 900).verdict, Verdict::Warn);
    }

    #[test]
    fn an_index_may_lag_but_not_lead() {
        assert_eq!(index(Some(100), 101).verdict, Verdict::Ok);
        assert_eq!(index(Some(100), 200).verdict, Verdict::Warn);
        assert_eq!(index(None, 200).verdict, Verdict::Warn);
        assert_eq!(index(Some(300), 200).verdict, Verdict::Fail);
    }

    #[test]
    fn a_finding_says_what_to_do() {
        let text = Finding::fail("chain", "no node answers", "start the node").to_string();
        assert_eq!(text, "fail  chain          no node answers\n                     → start the node");
    }
}
