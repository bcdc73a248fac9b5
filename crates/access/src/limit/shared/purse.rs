//! What one replica may grant a subject on one meter: tokens that it has leased, and an advance.
//!
//! Redis leases tokens in blocks. Between two leases, and for a subject that is new here, there is an advance, which is
//! charged with the next lease. While Redis is gone the advance is all there is, and it grows to the replica's share of
//! the limit: as slowly as the share itself comes back, because what the other replicas have granted is not known.

use std::{num::NonZeroU32, time::Duration};

use crate::limit::gcra::{self, Rate};

/// The advance is one part in so many of the share.
const ADVANCE_PART: u32 = 8;
/// A block of tokens is one part in so many of the share.
const BLOCK_PART: u32 = 4;

/// Debts may put the number in Redis a second window ahead.
pub(super) const LONGEST_WAIT: u64 = 2 * gcra::LONGEST;

/// What holds for every purse at a moment.
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
    fn share(self, limit: NonZeroU32) -> Rate {
        let share = limit.get() / self.replicas;
        Rate::per_minute(NonZeroU32::new(share).unwrap_or(NonZeroU32::MIN))
    }

    /// How far ahead a share counts as used at least: all of it but the advance when Redis was last heard of.
    fn floor(self, share: Rate) -> u64 {
        let advance = (share.limit() / ADVANCE_PART).max(1);
        let since = self.lost_at.map_or(self.now, |lost_at| lost_at.min(self.now));
        since.saturating_add(share.window()).saturating_sub(share.span(advance))
    }
}

/// Tokens and debts.
#[derive(Debug, Default)]
pub(super) struct Purse {
    /// Leased and not used.
    tokens: u32,
    /// Granted in advance and not charged yet.
    debt: u32,
    /// The share's use, as in `gcra`.
    arrival: u64,
    /// Until when Redis has nothing, as it said.
    empty_until: u64,
    /// What Redis had left, as it said; none before it said anything.
    left: Option<u32>,
    /// Whether a lease is under way.
    is_asked: bool,
    /// Whether it was used since the last look.
    is_used: bool,
}

/// How a request would be paid for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Payment {
    tokens: u32,
    advance: u32,
    arrival: u64,
}

/// What Redis answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Lease {
    pub(super) granted: u32,
    /// What is left there.
    pub(super) left: u32,
    /// How long until there is more; zero if everything was granted.
    pub(super) wait: Duration,
}

impl Purse {
    /// How to pay so much, or how long until it can be paid.
    pub(super) fn quote(&self, limit: NonZeroU32, cost: u32, at: Circumstances) -> Result<Payment, u64> {
        let cost = cost.min(limit.get());
        let Some(rest) = cost.checked_sub(self.tokens).filter(|rest| *rest > 0) else {
            return Ok(Payment { tokens: cost, advance: 0, arrival: self.arrival });
        };
        // Also when Redis is gone: what it said still holds.
        if let Some(wait) = self.wait(at.now) {
            return Err(wait);
        }
        let share = at.share(limit);
        let start = share.settled(self.arrival, at.now).max(at.floor(share));
        let next = start.saturating_add(share.span(rest));
        let latest = at.now.saturating_add(share.window());
        if next > latest {
            return Err(next - latest);
        }
        Ok(Payment { tokens: self.tokens, advance: rest, arrival: next })
    }

    /// How long Redis has nothing, as it said. It never says longer than this; a clock that was set back does.
    fn wait(&self, now: u64) -> Option<u64> {
        self.empty_until.checked_sub(now).filter(|wait| (1..=LONGEST_WAIT).contains(wait))
    }

    pub(super) fn pay(&mut self, payment: Payment) {
        self.tokens -= payment.tokens;
        self.debt = self.debt.saturating_add(payment.advance);
        self.arrival = payment.arrival;
        self.is_used = true;
    }

    /// How many tokens to ask for, if it is time to: notes that it was done.
    pub(super) fn ask(&mut self, limit: NonZeroU32, needed: u32, at: Circumstances) -> Option<u32> {
        let block = (at.share(limit).limit() / BLOCK_PART).max(1);
        let is_low = self.tokens < needed || self.tokens < block.div_ceil(2) || self.debt > 0;
        // A debt is charged at once, also when there is nothing to be had.
        let is_time =
            at.lost_at.is_none() && !self.is_asked && (self.wait(at.now).is_none() || self.debt > 0);
        if !is_low || !is_time {
            return None;
        }
        self.is_asked = true;
        Some(block.max(needed.min(limit.get()).saturating_sub(self.tokens)))
    }

    /// Whether an answer that would allow so much is on its way.
    pub(super) fn is_waiting(&self, needed: u32) -> bool {
        self.is_asked && self.tokens < needed
    }

    /// What to charge with a lease: what was granted in advance, as far as it has not come back by itself.
    pub(super) fn take_debt(&mut self, limit: NonZeroU32, at: Circumstances) -> u32 {
        let debt = std::mem::take(&mut self.debt);
        debt.min(at.share(limit).used(self.arrival, at.now))
    }

    /// The debt is still to be charged.
    pub(super) fn put_back(&mut self, debt: u32) {
        self.debt = self.debt.saturating_add(debt);
    }

    /// The lease that was asked for does not come.
    pub(super) fn forget_ask(&mut self) {
        self.is_asked = false;
    }

    pub(super) fn receive(&mut self, lease: Lease, now: u64) {
        let wait = u64::try_from(lease.wait.as_nanos()).unwrap_or(u64::MAX);
        self.tokens = self.tokens.saturating_add(lease.granted);
        self.left = Some(lease.left);
        self.empty_until = if wait == 0 { 0 } else { now.saturating_add(wait) };
        self.is_asked = false;
    }

    /// What Redis answered when nothing was wanted.
    pub(super) fn note(&mut self, lease: Lease) {
        self.left = Some(lease.left);
    }

    /// Gives up tokens that were not used since the last look, or in any case at the end.
    pub(super) fn give_up(&mut self, is_end: bool) -> u32 {
        let is_idle = !std::mem::take(&mut self.is_used) && !self.is_asked;
        if is_idle || is_end { std::mem::take(&mut self.tokens) } else { 0 }
    }

    /// Whether there is something to charge although nobody asks.
    pub(super) fn has_old_debt(&self) -> bool {
        self.debt > 0 && !self.is_asked
    }

    /// What is left for the subject, as far as it is known here.
    pub(super) fn remaining(&self, limit: NonZeroU32, at: Circumstances) -> u32 {
        let elsewhere = match at.lost_at {
            None => self.left.unwrap_or(limit.get()).saturating_sub(self.debt),
            Some(_) => {
                let share = at.share(limit);
                share.remaining(share.settled(self.arrival, at.now).max(at.floor(share)), at.now)
            }
        };
        self.tokens.saturating_add(elsewhere).min(limit.get())
    }

    pub(super) fn matters_until(&self) -> u64 {
        self.arrival.max(self.empty_until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: u64 = 1_700_000_000 * SECOND;
    const SECOND: u64 = 1_000_000_000;

    fn limit(limit: u32) -> NonZeroU32 {
        NonZeroU32::new(limit).unwrap()
    }

    fn connected(replicas: u32) -> Circumstances {
        Circumstances { replicas: limit(replicas), lost_at: None, now: NOW }
    }

    fn granted(purse: &mut Purse, of: u32, at: Circumstances) -> u32 {
        let mut granted = 0;
        while let Ok(payment) = purse.quote(limit(of), 1, at) {
            purse.pay(payment);
            granted += 1;
        }
        granted
    }

    fn lease(granted: u32) -> Lease {
        Lease { granted, left: 0, wait: Duration::ZERO }
    }

    #[test]
    fn an_unknown_subject_has_an_advance_and_then_what_is_leased() {
        let mut purse = Purse::default();
        assert_eq!(granted(&mut purse, 240, connected(3)), 10, "an eighth of a third");
        assert_eq!(purse.ask(limit(240), 1, connected(3)), Some(20));
        assert_eq!(purse.ask(limit(240), 1, connected(3)), None, "one lease at a time");
        assert_eq!(purse.take_debt(limit(240), connected(3)), 10);
        purse.receive(lease(20), NOW);
        assert_eq!(granted(&mut purse, 240, connected(3)), 20, "the advance does not come back at once");
    }

    #[test]
    fn what_redis_refuses_is_refused_here() {
        let mut purse = Purse::default();
        purse.receive(Lease { granted: 0, left: 0, wait: Duration::from_secs(2) }, NOW);
        assert_eq!(purse.quote(limit(240), 1, connected(3)).unwrap_err(), 2 * SECOND);
        assert_eq!(purse.ask(limit(240), 1, connected(3)), None);
        let later = Circumstances { now: NOW + 2 * SECOND, ..connected(3) };
        assert!(purse.quote(limit(240), 1, later).is_ok());
    }

    #[test]
    fn without_redis_the_share_comes_back_as_slowly_as_it_would_anyway() {
        let lost =
            |seconds| Circumstances { lost_at: Some(NOW), now: NOW + seconds * SECOND, ..connected(3) };
        assert_eq!(granted(&mut Purse::default(), 240, lost(0)), 10);
        assert_eq!(granted(&mut Purse::default(), 240, lost(30)), 50);
        assert_eq!(granted(&mut Purse::default(), 240, lost(600)), 80, "never more than the share");
        let mut purse = Purse::default();
        assert_eq!(granted(&mut purse, 240, lost(600)), 80);
        assert_eq!(granted(&mut purse, 240, lost(630)), 40);
        assert_eq!(purse.take_debt(limit(240), lost(630)), 80, "what came back is not charged");
    }

    #[test]
    fn idle_tokens_are_given_up_and_used_ones_are_not() {
        let mut purse = Purse::default();
        purse.receive(lease(5), NOW);
        purse.pay(purse.quote(limit(100), 1, connected(1)).unwrap());
        assert_eq!(purse.give_up(false), 0);
        assert_eq!(purse.give_up(false), 4);
        assert_eq!(purse.give_up(true), 0);
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let before = Circumstances { now: NOW - 3_600 * SECOND, ..connected(3) };
        let lost = Circumstances { lost_at: Some(NOW), ..before };
        assert!(Purse::default().quote(limit(240), 1, lost).is_ok());
        let mut purse = Purse::default();
        purse.receive(Lease { granted: 0, left: 0, wait: Duration::from_secs(60) }, NOW);
        assert!(purse.quote(limit(240), 1, before).is_ok() && purse.ask(limit(240), 1, before).is_some());
    }
}
