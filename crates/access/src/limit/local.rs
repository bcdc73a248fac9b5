//! Limits of this process alone.

use std::time::Duration;

use super::{
    Allowance, Meter, Quota, Subject,
    gcra::{self, Rate},
    table::{Record, Table},
};

/// Counts in this process's memory.
pub(super) struct LocalLimiter {
    subjects: Table<Subject, Arrivals>,
}

/// One number for each meter.
#[derive(Default)]
struct Arrivals {
    requests: u64,
    units: u64,
}

impl Record for Arrivals {
    fn matters_until(&self) -> u64 {
        self.requests.max(self.units)
    }
}

impl LocalLimiter {
    pub(super) fn new() -> Self {
        Self { subjects: Table::new(gcra::LONGEST) }
    }

    /// Counts a request on both meters, or on none.
    pub(super) fn take(&self, subject: Subject, quota: Quota, cost: u32, now: u64) -> Allowance {
        let requests = Rate::per_minute(quota.of(Meter::Requests));
        let units = Rate::per_minute(quota.of(Meter::Units));
        let units_cost = super::units(cost);
        self.subjects.with(subject, now, |arrivals| {
            let one = requests.spend(arrivals.requests, 1, now);
            let heavy = units.spend(arrivals.units, units_cost, now);
            if let (Ok(one), Ok(heavy)) = (one, heavy) {
                *arrivals = Arrivals { requests: one, units: heavy };
                return allowance(Meter::Requests, requests, one, None, now);
            }
            match (one.err(), heavy.err()) {
                // Of two that refuse, the one that does so longer is what the caller has to wait for.
                (Some(short), Some(long)) if long > short => {
                    allowance(Meter::Units, units, arrivals.units, Some(long), now)
                }
                (None, wait @ Some(_)) => allowance(Meter::Units, units, arrivals.units, wait, now),
                (wait, _) => allowance(Meter::Requests, requests, arrivals.requests, wait, now),
            }
        })
    }
}

/// What a meter says.
fn allowance(meter: Meter, rate: Rate, arrival: u64, wait: Option<u64>, now: u64) -> Allowance {
    Allowance {
        is_granted: wait.is_none(),
        meter,
        limit: rate.limit(),
        remaining: rate.remaining(arrival, now),
        retry_after: Duration::from_nanos(wait.unwrap_or(0)),
        reset_after: Duration::from_nanos(rate.settled(arrival, now) - now),
    }
}
