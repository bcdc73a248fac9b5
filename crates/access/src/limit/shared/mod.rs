//! Limits that several processes share through Redis.
//!
//! Nobody waits for Redis to answer a request. A replica grants from tokens that it has leased, in blocks, for each
//! subject; a task of its own fetches the next block while there are tokens left, charges what was granted in advance and
//! gives back what was not used. Only who asks for more than there is at hand, as the first request of an unknown
//! subject may, can wait for its lease, by [`Limiter::prepare`](super::Limiter::prepare), and not long.
//!
//! All replicas together grant no more than the limit, their advances (an eighth of it) and what comes back in two
//! seconds; an advance is charged, so that it is gone from the next minute. While Redis is gone each replica has the
//! limit divided by their number. `tests` has a model of all of it.

mod leaser;
mod ledger;
mod purse;

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
    gcra::Rate,
    table::{Record, Table},
    units,
};

pub use leaser::{Leaser, SharedLimitsError};

use self::purse::{Circumstances, Purse};

/// Replicas that are assumed as long as Redis has never answered: too many rather than too few.
const UNKNOWN_REPLICAS: u32 = 10;
/// Leases that wait to be fetched; who finds no room asks again with its next request.
const MOST_ASKS: usize = 4_096;
/// How long a request may wait for a lease.
const LEASE_TIME_LIMIT: Duration = Duration::from_millis(50);

/// Counts in this process's memory, with tokens from Redis.
pub(super) struct SharedLimiter {
    subjects: Table<Subject, Account>,
    replicas: AtomicU32,
    /// Since when Redis has been gone, in nanoseconds since 1970; 0 while it answers.
    lost_at: AtomicU64,
    asks: mpsc::Sender<Ask>,
    /// Tells of leases that came, or will not.
    answers: Notify,
}

/// A lease that is to be fetched.
#[derive(Debug, Clone, Copy)]
struct Ask {
    subject: Subject,
    meter: Meter,
    wanted: u32,
}

/// What is known of a subject.
#[derive(Default)]
struct Account {
    /// As its last request had it; none before the first.
    quota: Option<Quota>,
    requests: Purse,
    units: Purse,
}

impl Account {
    fn purse(&mut self, meter: Meter) -> &mut Purse {
        match meter {
            Meter::Requests => &mut self.requests,
            Meter::Units => &mut self.units,
        }
    }
}

impl Record for Account {
    fn matters_until(&self) -> u64 {
        self.requests.matters_until().max(self.units.matters_until())
    }
}

impl SharedLimiter {
    fn new(asks: mpsc::Sender<Ask>, now: u64) -> Self {
        Self {
            subjects: Table::new(purse::LONGEST_WAIT),
            replicas: AtomicU32::new(UNKNOWN_REPLICAS),
            lost_at: AtomicU64::new(now.max(1)),
            asks,
            answers: Notify::new(),
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
        let at = self.circumstances(now);
        let (allowance, asks) = self.subjects.with(subject, now, |account| {
            account.quota = Some(quota);
            let allowance = account.take(quota, units(cost), at);
            (allowance, account.asks(subject, quota, 1, units(cost), at))
        });
        self.ask(asks);
        allowance
    }

    /// Waits, not long, for what so many requests that cost so many units need beyond what is at hand.
    pub(super) async fn prepare(&self, subject: Subject, quota: Quota, requests: u32, units: u32, now: u64) {
        let at = self.circumstances(now);
        let (asks, is_short) = self.subjects.with(subject, now, |account| {
            account.quota = Some(quota);
            let asks = account.asks(subject, quota, requests, units, at);
            (asks, account.is_waiting(requests, units))
        });
        self.ask(asks);
        if !is_short {
            return;
        }
        let answered = async {
            loop {
                let answer = self.answers.notified();
                let is_waiting = |account: &mut Account| account.is_waiting(requests, units);
                if !self.subjects.with_known(subject, is_waiting).unwrap_or(false) {
                    return;
                }
                answer.await;
            }
        };
        // Who is not served in time is served from the advance, or refused.
        let _ = tokio::time::timeout(LEASE_TIME_LIMIT, answered).await;
    }

    /// Counts a request. When many come at once of a subject that is new here, they use a lease up before the last of them is
    /// served: those wait for the next one, not long.
    pub(super) async fn take_in_time(
        &self,
        subject: Subject,
        quota: Quota,
        cost: u32,
        now: u64,
    ) -> Allowance {
        let mut allowance = self.take(subject, quota, cost, now);
        let deadline = Instant::now() + LEASE_TIME_LIMIT;
        while !allowance.is_granted {
            let answer = self.answers.notified();
            let is_waiting = self.subjects.with_known(subject, |account| account.is_waiting(1, units(cost)));
            if is_waiting != Some(true) || timeout_at(deadline, answer).await.is_err() {
                break;
            }
            allowance = self.take(subject, quota, cost, now);
        }
        allowance
    }

    /// Has leases fetched.
    fn ask(&self, asks: [Option<Ask>; 2]) {
        for ask in asks.into_iter().flatten() {
            if self.asks.try_send(ask).is_err() {
                self.subjects.with_known(ask.subject, |account| account.purse(ask.meter).forget_ask());
            }
        }
    }
}

impl Account {
    fn take(&mut self, quota: Quota, units_cost: u32, at: Circumstances) -> Allowance {
        let one = self.requests.quote(quota.of(Meter::Requests), 1, at);
        let heavy = self.units.quote(quota.of(Meter::Units), units_cost, at);
        match (one, heavy) {
            (Ok(one), Ok(heavy)) => {
                self.requests.pay(one);
                if units_cost > 0 {
                    self.units.pay(heavy);
                }
                self.allowance(Meter::Requests, quota, None, at)
            }
            (Err(short), Err(long)) if long > short => self.allowance(Meter::Units, quota, Some(long), at),
            (Err(wait), _) => self.allowance(Meter::Requests, quota, Some(wait), at),
            (Ok(_), Err(wait)) => self.allowance(Meter::Units, quota, Some(wait), at),
        }
    }

    /// Whether so much is not at hand but may come.
    fn is_waiting(&self, requests: u32, units: u32) -> bool {
        self.requests.is_waiting(requests) || self.units.is_waiting(units)
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
        let requests = self.requests.ask(quota.of(Meter::Requests), requests, at);
        // Who uses no heavy methods needs no units.
        let heavy = match units_cost {
            0 => None,
            needed => self.units.ask(quota.of(Meter::Units), needed, at),
        };
        let ask = |meter| move |wanted| Ask { subject, meter, wanted };
        [requests.map(ask(Meter::Requests)), heavy.map(ask(Meter::Units))]
    }

    fn allowance(&mut self, meter: Meter, quota: Quota, wait: Option<u64>, at: Circumstances) -> Allowance {
        let limit = quota.of(meter);
        let remaining = match wait {
            None => self.purse(meter).remaining(limit, at),
            Some(_) => 0,
        };
        Allowance {
            is_granted: wait.is_none(),
            meter,
            limit: limit.get(),
            remaining,
            retry_after: Duration::from_nanos(wait.unwrap_or(0)),
            reset_after: Duration::from_nanos(Rate::per_minute(limit).span(limit.get() - remaining)),
        }
    }
}

#[cfg(test)]
mod tests;
