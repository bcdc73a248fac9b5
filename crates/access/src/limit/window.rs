//! A limit that is the same for every client, or whatever else is counted. A minute starts with the first request.

use std::{hash::Hash, time::Duration};

use jiff::Timestamp;

use super::{
    Allowance, Meter,
    table::{Record, Table},
};
use crate::Client;

const WINDOW_MS: u64 = 60_000;

/// Grants every client so many requests in its minute.
pub(super) struct WindowLimiter<K = Client> {
    limit: u32,
    windows: Table<K, Window>,
}

#[derive(Default)]
struct Window {
    started_ms: u64,
    used: u32,
}

impl Window {
    /// A clock that was set back does not lock anybody out: a window in the future is over, too.
    fn is_over(&self, now_ms: u64) -> bool {
        now_ms < self.started_ms || now_ms - self.started_ms >= WINDOW_MS
    }
}

impl Record for Window {
    fn matters_until(&self) -> u64 {
        self.started_ms.saturating_add(WINDOW_MS)
    }
}

impl<K: Copy + Eq + Hash> WindowLimiter<K> {
    /// A limiter that grants `limit` requests per client and minute; with 0 it grants none.
    pub(super) fn new(limit: u32) -> Self {
        Self { limit, windows: Table::new(WINDOW_MS) }
    }

    /// Counts one request.
    pub(super) fn take(&self, client: K, now: Timestamp) -> Allowance {
        let now_ms = u64::try_from(now.as_millisecond()).unwrap_or(0);
        self.windows.with(client, now_ms, |window| {
            if window.used == 0 || window.is_over(now_ms) {
                *window = Window { started_ms: now_ms, used: 0 };
            }
            let is_granted = window.used < self.limit;
            if is_granted {
                window.used += 1;
            }
            let reset_after = Duration::from_millis(WINDOW_MS - (now_ms - window.started_ms));
            Allowance {
                is_granted,
                meter: Meter::Requests,
                limit: self.limit,
                remaining: self.limit - window.used,
                retry_after: if is_granted { Duration::ZERO } else { reset_after },
                reset_after,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn take(limiter: &WindowLimiter, client: u32, at_ms: i64) -> Allowance {
        let client = Client::V4(Ipv4Addr::from_bits(client));
        limiter.take(client, Timestamp::from_millisecond(at_ms).unwrap())
    }

    #[test]
    fn a_client_gets_its_limit_and_no_more_until_its_minute_is_over() {
        let limiter = WindowLimiter::new(3);
        for remaining in [2, 1, 0] {
            let allowance = take(&limiter, 1, 1_000);
            assert!(allowance.is_granted);
            assert_eq!((allowance.remaining, allowance.reset_seconds()), (remaining, 60));
        }
        let refused = take(&limiter, 1, 31_500);
        assert!(!refused.is_granted);
        assert_eq!((refused.remaining, refused.reset_seconds(), refused.retry_seconds()), (0, 30, 30));
        assert!(take(&limiter, 2, 31_500).is_granted, "others are not concerned");
        assert!(take(&limiter, 1, 61_000).is_granted);
    }

    #[test]
    fn a_clock_that_is_set_back_starts_a_new_window() {
        let limiter = WindowLimiter::new(1);
        assert!(take(&limiter, 1, 1_000_000).is_granted);
        assert!(take(&limiter, 1, 500_000).is_granted);
    }
}
