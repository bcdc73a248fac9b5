//! Limits of this process alone.

use std::time::Duration;

use super::{
    Allowance, Meter, Quota, Subject,
    table::{Record, Table},
    window::{MINUTE_MS, Window},
};

/// Counts in this process's memory.
pub(super) struct LocalLimiter {
    subjects: Table<Subject, Usage>,
}

/// What a subject used of each meter.
#[derive(Default)]
struct Usage {
    requests: Window,
    /// Most subjects never use a heavy method.
    units: Option<Box<Window>>,
}

impl Record for Usage {
    fn matters_until(&self) -> u64 {
        let units = self.units.as_ref().map_or(0, |units| units.matters_until());
        self.requests.matters_until().max(units)
    }

    fn used(&self) -> u32 {
        self.requests.used()
    }
}

impl LocalLimiter {
    pub(super) fn new() -> Self {
        Self { subjects: Table::new(MINUTE_MS) }
    }

    /// Counts a request on both meters, or on none.
    pub(super) fn take(&self, subject: Subject, quota: Quota, cost: u32, now: u64) -> Allowance {
        let (requests, units) = (quota.of(Meter::Requests).get(), quota.of(Meter::Units).get());
        self.subjects.with(subject, now, |usage| match super::units(cost) {
            0 => count(&mut usage.requests, requests, now),
            cost => {
                let heavy = usage.units.get_or_insert_default();
                heavy.advance(now);
                usage.requests.advance(now);
                let short = usage.requests.wait(requests, 1, now);
                match heavy.wait(units, cost, now) {
                    // Of two that refuse, the one that does so longer is what the caller has to wait for.
                    Some(long) if short.is_none_or(|short| long > short) => {
                        allowance(Meter::Units, heavy, units, Some(long), now)
                    }
                    refused => {
                        if refused.is_none() && short.is_none() {
                            heavy.add(cost.min(units), now);
                        }
                        count(&mut usage.requests, requests, now)
                    }
                }
            }
        })
    }
}

/// Counts one request, if it fits under the limit.
pub(super) fn count(window: &mut Window, limit: u32, now: u64) -> Allowance {
    window.advance(now);
    let wait = window.wait(limit, 1, now);
    if wait.is_none() {
        window.add(1, now);
    }
    allowance(Meter::Requests, window, limit, wait, now)
}

/// What a meter says. Who is refused is told one time in both figures: when the request passes.
fn allowance(meter: Meter, window: &Window, limit: u32, wait: Option<u64>, now: u64) -> Allowance {
    Allowance {
        is_granted: wait.is_none(),
        meter,
        limit,
        remaining: limit.saturating_sub(window.used()),
        retry_after: Duration::from_millis(wait.unwrap_or(0)),
        reset_after: Duration::from_millis(wait.unwrap_or_else(|| window.reset_after(now))),
    }
}
