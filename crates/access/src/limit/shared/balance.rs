//! What one replica may grant a subject on one meter: tokens that it has leased, or while Redis is gone its share of the limit.
//!
//! Redis counts a token from its lease on, for a minute and the time that the token may be kept ([`LIFE_MS`]). So whenever within its
//! life a token is used, it is counted for the minute after. What is not used within its life is given back. Times are
//! milliseconds since 1970 of this process's clock; only spans of time are compared with those of others.

use std::{num::NonZeroU32, time::Duration};

use crate::limit::window::{MINUTE_MS, Window};

/// How long a token may be kept.
pub(super) const LIFE_MS: u64 = 1_000;
/// How soon Redis is asked again although it said that there is nothing for longer: others may have given something back.
const ASK_AGAIN_MS: u64 = 1_000;
/// A block of tokens is one part in so many of the share, at most.
const BLOCK_PART: u32 = 4;
/// What a replica has at once of its share when Redis is gone: one part in so many.
const START_PART: u32 = 8;
/// How long who finds no tokens is told to wait, if nothing else is known: a lease is on its way.
const LEASE_MS: u64 = 100;
/// Redis never says that there is nothing for longer than a minute, the life of a token, and the second that it counts in.
pub(super) const LONGEST_WAIT_MS: u64 = MINUTE_MS + LIFE_MS + 1_000;

/// What holds for every balance at a moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Circumstances {
    /// Replicas that share the limits.
    pub(super) replicas: NonZeroU32,
    /// Since when Redis has been gone, if it is.
    pub(super) lost_at: Option<u64>,
    pub(super) now: u64,
}

impl Circumstances {
    /// This replica's part of a limit.
    fn share(self, limit: NonZeroU32) -> u32 {
        (limit.get() / self.replicas).max(1)
    }

    /// What of its share a replica may use that lost Redis then: what others have granted in the minute before is not known, so it
    /// grows from a part to the whole within a minute.
    fn grown(self, share: u32, lost_at: u64) -> u32 {
        let start = (share / START_PART).max(1);
        let since = self.now.saturating_sub(lost_at).min(MINUTE_MS);
        let grown = u64::from(share - start) * since / MINUTE_MS;
        start.saturating_add(u32::try_from(grown).unwrap_or(share)).min(share)
    }
}

/// Tokens, and what was granted without.
#[derive(Debug, Default)]
pub(super) struct Balance {
    /// Leased and not used.
    tokens: u32,
    /// The second in which they were leased, by the clock of Redis.
    leased_in: u64,
    expires_at: u64,
    /// How many to ask for: what the last lease turned out to be good for.
    block: u32,
    /// All that this replica granted.
    granted: Window,
    /// Granted without tokens and not charged yet.
    debt: u32,
    /// Until when Redis has nothing, as it said.
    empty_until: u64,
    /// Not before then is it asked again.
    ask_again_at: u64,
    /// What Redis had left, as it said; none before it said anything.
    left: Option<u32>,
    /// Whether a lease is under way.
    is_asked: bool,
}

/// How a request would be paid for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Grant {
    /// By tokens.
    Tokens(u32),
    /// By the share, while Redis is gone.
    Share(u32),
}

/// What Redis answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lease {
    pub(super) granted: u32,
    /// What is left there.
    pub(super) left: u32,
    /// How long until there is more; zero if everything was granted.
    pub(super) wait: Duration,
    /// The second in which it was granted, by the clock of Redis.
    pub(super) second: u64,
}

/// Tokens that are given back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Returned {
    pub(super) tokens: u32,
    /// The second in which they were leased.
    pub(super) leased_in: u64,
}

impl Balance {
    /// How to grant so much, or how long until it can be granted.
    pub(super) fn check(&mut self, limit: NonZeroU32, cost: u32, at: Circumstances) -> Result<Grant, u64> {
        let cost = cost.min(limit.get());
        if self.usable(at.now) >= cost {
            return Ok(Grant::Tokens(cost));
        }
        // Also when Redis is gone: what it said still holds.
        if let Some(wait) = self.wait(at.now) {
            return Err(wait);
        }
        let Some(lost_at) = at.lost_at else { return Err(LEASE_MS) };
        let share = at.share(limit);
        self.granted.advance(at.now);
        let cost = cost.min(share);
        if self.granted.wait(at.grown(share, lost_at), cost, at.now).is_none() {
            return Ok(Grant::Share(cost));
        }
        // When the share has grown by so much, or what was used of all of it is over.
        let grown_in = (u64::from(cost) * MINUTE_MS).div_ceil(share.into());
        Err(self.granted.wait(share, cost, at.now).unwrap_or(grown_in))
    }

    /// Tokens whose life is not over; a clock that was set back has ended it.
    fn usable(&self, now: u64) -> u32 {
        let is_alive = now < self.expires_at && self.expires_at <= now.saturating_add(2 * LIFE_MS);
        if is_alive { self.tokens } else { 0 }
    }

    /// How long Redis has nothing, as it said. It never says longer than this; a clock that was set back does.
    fn wait(&self, now: u64) -> Option<u64> {
        self.empty_until.checked_sub(now).filter(|wait| (1..=LONGEST_WAIT_MS).contains(wait))
    }

    pub(super) fn spend(&mut self, grant: Grant, now: u64) {
        let cost = match grant {
            Grant::Tokens(cost) => {
                self.tokens = self.tokens.saturating_sub(cost);
                cost
            }
            Grant::Share(cost) => {
                self.debt = self.debt.saturating_add(cost);
                cost
            }
        };
        self.granted.advance(now);
        self.granted.add(cost, now);
    }

    /// How many tokens to ask for if there are not as many as needed and it is time to: notes that it was done.
    pub(super) fn ask(&mut self, limit: NonZeroU32, needed: u32, at: Circumstances) -> Option<u32> {
        let needed = needed.min(limit.get());
        let usable = self.usable(at.now);
        let may_ask = self.ask_again_at <= at.now || self.ask_again_at > at.now.saturating_add(ASK_AGAIN_MS);
        if usable >= needed || at.lost_at.is_some() || self.is_asked || !may_ask {
            return None;
        }
        // A lease that was used up within its life was too small, one that was not was large enough.
        let most = (at.share(limit) / BLOCK_PART).max(1);
        let block = match self.tokens {
            0 => self.block.saturating_mul(2),
            unused => self.block.saturating_sub(unused),
        };
        self.block = block.clamp(1, most);
        self.is_asked = true;
        Some(self.block.max(needed))
    }

    /// Whether an answer that would allow so much is on its way.
    pub(super) fn is_waiting(&self, needed: u32, now: u64) -> bool {
        self.is_asked && self.usable(now) < needed
    }

    /// What to charge with a claim: what was granted without tokens, as far as it is not over.
    pub(super) fn take_debt(&mut self, now: u64) -> u32 {
        self.granted.advance(now);
        std::mem::take(&mut self.debt).min(self.granted.used())
    }

    /// Redis has lost its memory: all that was granted is to be charged again.
    pub(super) fn owe_everything(&mut self, now: u64) {
        self.granted.advance(now);
        self.debt = self.granted.used();
        (self.tokens, self.empty_until, self.ask_again_at) = (0, 0, 0);
    }

    /// The debt is still to be charged.
    pub(super) fn put_back(&mut self, debt: u32) {
        self.debt = self.debt.saturating_add(debt);
    }

    /// The lease that was asked for does not come.
    pub(super) fn forget_ask(&mut self) {
        self.is_asked = false;
    }

    /// Takes a lease that was asked for at a time: what Redis counts began after it, so that the life of the tokens ends in time.
    pub(super) fn receive(&mut self, lease: Lease, asked_at: u64, now: u64) {
        let wait = u64::try_from(lease.wait.as_micros().div_ceil(1_000)).unwrap_or(u64::MAX);
        (self.tokens, self.leased_in, self.block) = (lease.granted, lease.second, lease.granted);
        self.expires_at = asked_at.saturating_add(LIFE_MS);
        (self.left, self.is_asked) = (Some(lease.left), false);
        (self.empty_until, self.ask_again_at) = match wait {
            0 => (0, 0),
            wait => (now.saturating_add(wait), now.saturating_add(wait.min(ASK_AGAIN_MS))),
        };
    }

    /// What Redis answered when nothing was wanted.
    pub(super) fn note(&mut self, lease: Lease) {
        self.left = Some(lease.left);
    }

    /// Gives up all tokens: those of a lease are not mixed with those of the next.
    pub(super) fn give_up(&mut self) -> Returned {
        self.block = self.block.saturating_sub(self.tokens);
        Returned { tokens: std::mem::take(&mut self.tokens), leased_in: self.leased_in }
    }

    /// Gives up tokens whose life is over.
    pub(super) fn give_up_old(&mut self, now: u64) -> Returned {
        if self.usable(now) > 0 { Returned::default() } else { self.give_up() }
    }

    /// Whether there is something to charge although nobody asks.
    pub(super) fn has_old_debt(&self) -> bool {
        self.debt > 0 && !self.is_asked
    }

    /// What is left for the subject, as far as it is known here.
    pub(super) fn remaining(&self, limit: NonZeroU32, at: Circumstances) -> u32 {
        let elsewhere = match at.lost_at {
            None => self.left.unwrap_or(limit.get()).saturating_sub(self.debt),
            Some(lost_at) => at.grown(at.share(limit), lost_at).saturating_sub(self.granted.used()),
        };
        self.usable(at.now).saturating_add(elsewhere).min(limit.get())
    }

    /// How long until something of what was used here is there again.
    pub(super) fn reset_after(&self, now: u64) -> u64 {
        self.wait(now).unwrap_or_else(|| self.granted.reset_after(now))
    }

    /// What was used here in the last minute.
    pub(super) fn used(&self) -> u32 {
        self.granted.used()
    }

    pub(super) fn matters_until(&self) -> u64 {
        self.granted.matters_until().max(self.empty_until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000_000;
    const SECOND: u64 = 1_000;

    fn limit(limit: u32) -> NonZeroU32 {
        NonZeroU32::new(limit).unwrap()
    }

    fn connected(replicas: u32) -> Circumstances {
        Circumstances { replicas: limit(replicas), lost_at: None, now: NOW }
    }

    fn granted(balance: &mut Balance, of: u32, at: Circumstances) -> u32 {
        let mut granted = 0;
        while let Ok(grant) = balance.check(limit(of), 1, at) {
            balance.spend(grant, at.now);
            granted += 1;
        }
        granted
    }

    fn lease(granted: u32) -> Lease {
        Lease { granted, left: 0, wait: Duration::ZERO, second: 5 }
    }

    #[test]
    fn nothing_is_granted_that_was_not_leased() {
        let mut balance = Balance::default();
        assert_eq!(granted(&mut balance, 240, connected(3)), 0);
        assert_eq!(balance.ask(limit(240), 1, connected(3)), Some(1));
        assert_eq!(balance.ask(limit(240), 1, connected(3)), None, "one lease at a time");
        balance.receive(lease(1), NOW, NOW);
        assert_eq!(granted(&mut balance, 240, connected(3)), 1);
        assert_eq!(balance.ask(limit(240), 1, connected(3)), Some(2), "it was used up");
        balance.receive(lease(2), NOW, NOW);
        assert_eq!(balance.ask(limit(240), 30, connected(3)), Some(30), "a batch");
    }

    #[test]
    fn tokens_end_with_their_life_and_are_given_back_where_they_were_leased() {
        let mut balance = Balance::default();
        assert!(balance.ask(limit(100), 5, connected(1)).is_some());
        // The answer took a while: the tokens' life began before it came.
        balance.receive(lease(5), NOW, NOW + 400);
        let at = |now| Circumstances { now, ..connected(1) };
        assert_eq!(balance.give_up_old(NOW + LIFE_MS - 1), Returned::default());
        assert_eq!(balance.check(limit(100), 1, at(NOW + LIFE_MS - 1)), Ok(Grant::Tokens(1)));
        assert!(balance.check(limit(100), 1, at(NOW + LIFE_MS)).is_err());
        assert_eq!(balance.give_up_old(NOW + LIFE_MS), Returned { tokens: 5, leased_in: 5 });
    }

    #[test]
    fn what_redis_refuses_is_refused_here_and_asked_again_soon() {
        let mut balance = Balance::default();
        balance.receive(Lease { wait: Duration::from_secs(20), ..lease(0) }, NOW, NOW);
        assert_eq!(balance.check(limit(240), 1, connected(3)), Err(20 * SECOND));
        assert_eq!(balance.ask(limit(240), 1, connected(3)), None);
        let later = Circumstances { now: NOW + SECOND, ..connected(3) };
        assert_eq!(balance.check(limit(240), 1, later), Err(19 * SECOND));
        assert!(balance.ask(limit(240), 1, later).is_some(), "others may have given something back");
    }

    #[test]
    fn without_redis_the_share_grows_within_a_minute_and_counts_what_was_granted_before() {
        let lost =
            |seconds| Circumstances { lost_at: Some(NOW), now: NOW + seconds * SECOND, ..connected(3) };
        assert_eq!(granted(&mut Balance::default(), 240, lost(0)), 10);
        assert_eq!(granted(&mut Balance::default(), 240, lost(30)), 45);
        assert_eq!(granted(&mut Balance::default(), 240, lost(600)), 80, "never more than the share");
        let mut balance = Balance::default();
        assert_eq!(granted(&mut balance, 240, lost(600)), 80);
        assert_eq!(granted(&mut balance, 240, lost(659)), 0, "nor in any minute");
        assert_eq!(balance.take_debt(lost(659).now), 80);
        balance.put_back(80);
        assert_eq!(balance.take_debt(lost(660).now), 0, "what is over is not charged");

        let mut used = Balance::default();
        used.receive(lease(200), NOW, NOW);
        assert_eq!(granted(&mut used, 240, connected(3)), 200);
        assert_eq!(granted(&mut used, 240, lost(59)), 0, "more than the share was granted before");
        assert_eq!(granted(&mut used, 240, lost(60)), 80);
    }

    #[test]
    fn a_redis_without_memory_is_told_everything_again() {
        let mut balance = Balance::default();
        balance.receive(lease(7), NOW, NOW);
        assert_eq!(granted(&mut balance, 100, connected(1)), 7);
        assert_eq!(balance.take_debt(NOW), 0);
        balance.owe_everything(NOW + SECOND);
        assert_eq!(balance.take_debt(NOW + SECOND), 7);
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let before = Circumstances { now: NOW - 3_600 * SECOND, ..connected(3) };
        let lost = Circumstances { lost_at: Some(NOW), ..before };
        assert!(Balance::default().check(limit(240), 1, lost).is_ok());
        let mut balance = Balance::default();
        balance.receive(Lease { wait: Duration::from_secs(60), ..lease(0) }, NOW, NOW);
        assert_eq!(balance.check(limit(240), 1, before), Err(LEASE_MS), "a lease can be fetched");
        assert!(balance.ask(limit(240), 1, before).is_some());
    }
}
