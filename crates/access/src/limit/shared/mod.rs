//! Limits that several processes share through Redis.
//!
//! A replica grants from tokens that it has leased for a subject, and from nothing else, so that all replicas together grant no more
//! than the limit in any minute ([`balance`] says why). A task of its own speaks with Redis; a request waits for it only when the
//! tokens at hand do not suffice, as for the first request of a subject, and not longer than Redis may take to answer.
//!
//! While Redis is gone each replica has the limit divided by their number. What was granted meanwhile is charged when it is back.
//! `tests` has a model of all of it.

mod balance;
mod leaser;
mod ledger;

use std::{
    num::NonZeroU32,
    sync::atomic::{AtomicU32, AtomicU64, Ordering},
    time::Duration,
};

use tokio::{
    sync::{Notify, mpsc},
    time::{Instant, timeout_at},
};

use super::{
    Allowance, Meter, Quota, Sharing, Subject,
    table::{Record, Table},
    units, window,
};
use crate::Clock;

pub use leaser::{Leaser, SharedLimitsError};

use self::balance::{Balance, Circumstances};

/// Replicas that are assumed as long as Redis has never answered: too many rather than too few.
const UNKNOWN_REPLICAS: u32 = 10;
/// Leases that wait to be fetched; who finds no room asks again with its next request.
const MOST_ASKS: usize = 4_096;
/// How long a request may wait for leases: as long as Redis may take before it counts as gone, and some more.
const LEASE_TIME_LIMIT: Duration = Duration::from_millis(750);

/// Counts in this process's memory, with tokens from Redis.
pub(super) struct SharedLimiter {
    subjects: Table<Subject, Account>,
    replicas: AtomicU32,
    /// Since when Redis has been gone, in milliseconds since 1970; 0 while it answers.
    lost_at: AtomicU64,
    asks: mpsc::Sender<Ask>,
    /// Tells of leases that came, or will not.
    answers: Notify,
    /// For who has waited; who has not brings the time along.
    clock: Clock,
}

/// A lease that is to be fetched.
#[derive(Debug, Clone, Copy)]
struct Ask {
    subject: Subject,
    meter: Meter,
    wanted: u32,
    /// With fewer than these it is no use.
    needed: u32,
}

/// What is known of a subject.
#[derive(Default)]
struct Account {
    /// As its last request had it; none before the first.
    quota: Option<Quota>,
    requests: Balance,
    /// Most subjects never use a heavy method.
    units: Option<Box<Balance>>,
}

impl Account {
    fn balance(&mut self, meter: Meter) -> &mut Balance {
        match meter {
            Meter::Requests => &mut self.requests,
            Meter::Units => self.units.get_or_insert_default(),
        }
    }

    /// The meters that are in use, with their limits.
    fn balances(&mut self) -> impl Iterator<Item = (Meter, NonZeroU32, &mut Balance)> {
        let units = self.units.as_deref_mut().map(|units| (Meter::Units, units));
        let all = [Some((Meter::Requests, &mut self.requests)), units].into_iter().flatten();
        let quota = self.quota;
        all.filter_map(move |(meter, balance)| Some((meter, quota?.of(meter), balance)))
    }
}

impl Record for Account {
    fn matters_until(&self) -> u64 {
        let units = self.units.as_ref().map_or(0, |units| units.matters_until());
        self.requests.matters_until().max(units)
    }

    fn used(&self) -> u32 {
        self.requests.used()
    }
}

impl SharedLimiter {
    fn new(asks: mpsc::Sender<Ask>, clock: Clock) -> Self {
        let now = window::milliseconds(clock());
        Self {
            subjects: Table::new(balance::LONGEST_WAIT_MS),
            replicas: AtomicU32::new(UNKNOWN_REPLICAS),
            lost_at: AtomicU64::new(now.max(1)),
            asks,
            answers: Notify::new(),
            clock,
        }
    }

    pub(super) fn sharing(&self) -> Sharing {
        let replicas = self.replicas.load(Ordering::Relaxed);
        match self.lost_at.load(Ordering::Relaxed) {
            0 => Sharing::Shared { replicas },
            _ => Sharing::Lost { replicas },
        }
    }

    fn circumstances(&self, now: u64) -> Circumstances {
        let replicas = NonZeroU32::new(self.replicas.load(Ordering::Relaxed)).unwrap_or(NonZeroU32::MIN);
        let lost_at = Some(self.lost_at.load(Ordering::Relaxed)).filter(|lost_at| *lost_at > 0);
        Circumstances { replicas, lost_at, now }
    }

    /// Counts a request on both meters, or on none.
    pub(super) fn take(&self, subject: Subject, quota: Quota, cost: u32, now: u64) -> Allowance {
        self.take_or_ask(subject, quota, cost, now).0
    }

    /// The same; who is refused is told also whether a lease is on its way.
    fn take_or_ask(&self, subject: Subject, quota: Quota, cost: u32, now: u64) -> (Allowance, bool) {
        let (at, units) = (self.circumstances(now), units(cost));
        let (allowance, asks, is_waiting) = self.subjects.with(subject, now, |account| {
            account.quota = Some(quota);
            let allowance = account.take(quota, units, at);
            if allowance.is_granted {
                return (allowance, [None, None], false);
            }
            let asks = account.asks(subject, quota, 1, units, at);
            (allowance, asks, account.is_waiting(1, units, now))
        });
        self.ask(asks);
        (allowance, is_waiting)
    }

    /// Waits, not long, for what so many requests that cost so many units need beyond what is at hand.
    pub(super) async fn prepare(&self, subject: Subject, quota: Quota, requests: u32, units: u32, now: u64) {
        let at = self.circumstances(now);
        let (asks, is_short) = self.subjects.with(subject, now, |account| {
            account.quota = Some(quota);
            let asks = account.asks(subject, quota, requests, units, at);
            (asks, account.is_waiting(requests, units, now))
        });
        self.ask(asks);
        if !is_short {
            return;
        }
        let answered = async {
            loop {
                let answer = self.answers.notified();
                let now = self.now();
                let is_waiting = |account: &mut Account| account.is_waiting(requests, units, now);
                if !self.subjects.with_known(subject, is_waiting).unwrap_or(false) {
                    return;
                }
                answer.await;
            }
        };
        // Who is not served in time is refused, or has what came.
        let _ = tokio::time::timeout(LEASE_TIME_LIMIT, answered).await;
    }

    /// Counts a request; who is refused while a lease is on its way waits for that. When many come at once, they may use it up
    /// before the last of them is served: those wait for the next one, not long.
    pub(super) async fn take_in_time(
        &self,
        subject: Subject,
        quota: Quota,
        cost: u32,
        mut now: u64,
    ) -> Allowance {
        let mut deadline = None;
        loop {
            let answer = self.answers.notified();
            let (allowance, is_waiting) = self.take_or_ask(subject, quota, cost, now);
            if allowance.is_granted || !is_waiting {
                return allowance;
            }
            let deadline = *deadline.get_or_insert_with(|| Instant::now() + LEASE_TIME_LIMIT);
            if timeout_at(deadline, answer).await.is_err() {
                return allowance;
            }
            now = self.now();
        }
    }

    fn now(&self) -> u64 {
        window::milliseconds((self.clock)())
    }

    /// Has leases fetched.
    fn ask(&self, asks: [Option<Ask>; 2]) {
        for ask in asks.into_iter().flatten() {
            if self.asks.try_send(ask).is_err() {
                self.subjects.with_known(ask.subject, |account| account.balance(ask.meter).forget_ask());
            }
        }
    }
}

impl Account {
    fn take(&mut self, quota: Quota, units_cost: u32, at: Circumstances) -> Allowance {
        let one = self.requests.check(quota.of(Meter::Requests), 1, at);
        let heavy = match units_cost {
            0 => Ok(None),
            cost => self.balance(Meter::Units).check(quota.of(Meter::Units), cost, at).map(Some),
        };
        match (one, heavy) {
            (Ok(one), Ok(heavy)) => {
                self.requests.spend(one, at.now);
                if let Some(heavy) = heavy {
                    self.balance(Meter::Units).spend(heavy, at.now);
                }
                self.allowance(Meter::Requests, quota, None, at)
            }
            (Err(short), Err(long)) if long > short => self.allowance(Meter::Units, quota, Some(long), at),
            (Err(wait), _) => self.allowance(Meter::Requests, quota, Some(wait), at),
            (Ok(_), Err(wait)) => self.allowance(Meter::Units, quota, Some(wait), at),
        }
    }

    /// Whether so much is not at hand but may come.
    fn is_waiting(&self, requests: u32, units: u32, now: u64) -> bool {
        let are_units = self.units.as_ref().is_some_and(|balance| balance.is_waiting(units, now));
        self.requests.is_waiting(requests, now) || are_units
    }

    /// The leases that are due after a request, or before one.
    fn asks(
        &mut self,
        subject: Subject,
        quota: Quota,
        requests: u32,
        units_cost: u32,
        at: Circumstances,
    ) -> [Option<Ask>; 2] {
        let mut ask = |meter, needed| match needed {
            // Who uses no heavy methods needs no units.
            0 => None,
            needed => {
                let wanted = self.balance(meter).ask(quota.of(meter), needed, at)?;
                Some(Ask { subject, meter, wanted, needed })
            }
        };
        [ask(Meter::Requests, requests), ask(Meter::Units, units_cost)]
    }

    fn allowance(&mut self, meter: Meter, quota: Quota, wait: Option<u64>, at: Circumstances) -> Allowance {
        let (limit, balance) = (quota.of(meter), self.balance(meter));
        let remaining = match wait {
            None => balance.remaining(limit, at),
            Some(_) => 0,
        };
        Allowance {
            is_granted: wait.is_none(),
            meter,
            limit: limit.get(),
            remaining,
            retry_after: Duration::from_millis(wait.unwrap_or(0)),
            reset_after: Duration::from_millis(wait.unwrap_or_else(|| balance.reset_after(at.now))),
        }
    }
}

#[cfg(test)]
mod tests;
