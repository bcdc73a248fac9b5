//! How many requests a client has left in its minute.
//!
//! A window starts with a client's first request and lasts a minute. The table is bounded: under a flood of addresses the
//! oldest counts are forgotten, never the memory.

use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::BuildHasher,
};

use futures_util::future::BoxFuture;
use jiff::Timestamp;
use parking_lot::Mutex;

use super::client::Client;

const WINDOW_MS: i64 = 60_000;
const SHARDS: usize = 16;
/// Clients that are remembered per shard; all shards together take about 10 MB.
const CLIENTS_PER_SHARD: usize = 8 * 1024;

/// What a limiter says to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Whether the request may pass.
    pub is_granted: bool,
    /// Requests per minute.
    pub limit: u32,
    /// Requests left in this window.
    pub remaining: u32,
    /// Seconds until the window ends.
    pub reset_seconds: u64,
}

/// An answer that is there at once, as from memory, or that has to be waited for, as from another server. Not simply a
/// future, because a boxed one would cost every request an allocation.
pub enum Verdict {
    /// At once.
    Now(Allowance),
    /// Later.
    Later(BoxFuture<'static, Allowance>),
}

/// Counts requests per client.
pub trait Limiter: Send + Sync + 'static {
    /// Counts one request.
    fn take(&self, client: Client, now: Timestamp) -> Verdict;
}

/// A limiter in this process's memory.
pub struct MemoryLimiter {
    limit: u32,
    hasher: RandomState,
    shards: [Mutex<HashMap<Client, Window>>; SHARDS],
}

#[derive(Clone, Copy)]
struct Window {
    started_ms: i64,
    used: u32,
}

impl Window {
    /// A clock that was set back does not lock anybody out: a window in the future is over, too.
    fn is_over(self, now_ms: i64) -> bool {
        !(0..WINDOW_MS).contains(&(now_ms - self.started_ms))
    }
}

impl MemoryLimiter {
    /// A limiter that grants `limit` requests per client and minute.
    pub fn new(limit: u32) -> Self {
        Self { limit, hasher: RandomState::new(), shards: Default::default() }
    }

    fn count(&self, client: Client, now_ms: i64) -> Option<Allowance> {
        let shard = usize::try_from(self.hasher.hash_one(client) % SHARDS as u64).ok()?;
        let mut windows = self.shards.get(shard)?.lock();
        if windows.len() >= CLIENTS_PER_SHARD && !windows.contains_key(&client) {
            make_room(&mut windows, now_ms);
        }
        let window = windows.entry(client).or_insert(Window { started_ms: now_ms, used: 0 });
        if window.is_over(now_ms) {
            *window = Window { started_ms: now_ms, used: 0 };
        }
        let is_granted = window.used < self.limit;
        if is_granted {
            window.used += 1;
        }
        let left_ms = WINDOW_MS - (now_ms - window.started_ms);
        Some(Allowance {
            is_granted,
            limit: self.limit,
            remaining: self.limit - window.used,
            reset_seconds: u64::try_from(left_ms).unwrap_or(0).div_ceil(1000),
        })
    }
}

/// Forgets windows that are over, or else the half that started first.
fn make_room(windows: &mut HashMap<Client, Window>, now_ms: i64) {
    windows.retain(|_, window| !window.is_over(now_ms));
    if windows.len() < CLIENTS_PER_SHARD {
        return;
    }
    let mut starts: Vec<i64> = windows.values().map(|window| window.started_ms).collect();
    let middle = starts.len() / 2;
    let (_, median, _) = starts.select_nth_unstable(middle);
    let median = *median;
    windows.retain(|_, window| window.started_ms > median);
}

impl Limiter for MemoryLimiter {
    fn take(&self, client: Client, now: Timestamp) -> Verdict {
        let refused = Allowance { is_granted: false, limit: self.limit, remaining: 0, reset_seconds: 60 };
        Verdict::Now(self.count(client, now.as_millisecond()).unwrap_or(refused))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    fn take(limiter: &MemoryLimiter, client: u32, at_ms: i64) -> Allowance {
        let client = Client::V4(Ipv4Addr::from_bits(client));
        match limiter.take(client, Timestamp::from_millisecond(at_ms).unwrap()) {
            Verdict::Now(allowance) => allowance,
            Verdict::Later(_) => unreachable!("memory answers at once"),
        }
    }

    #[test]
    fn a_client_gets_its_limit_and_no_more_until_its_minute_is_over() {
        let limiter = MemoryLimiter::new(3);
        for remaining in [2, 1, 0] {
            let allowance = take(&limiter, 1, 1_000);
            assert!(allowance.is_granted);
            assert_eq!((allowance.remaining, allowance.reset_seconds), (remaining, 60));
        }
        let refused = take(&limiter, 1, 31_500);
        assert!(!refused.is_granted);
        assert_eq!((refused.remaining, refused.reset_seconds), (0, 30));
        assert!(take(&limiter, 2, 31_500).is_granted, "others are not concerned");
        assert!(take(&limiter, 1, 61_000).is_granted);
    }

    #[test]
    fn a_clock_that_is_set_back_starts_a_new_window() {
        let limiter = MemoryLimiter::new(1);
        assert!(take(&limiter, 1, 1_000_000).is_granted);
        assert!(take(&limiter, 1, 500_000).is_granted);
    }

    #[test]
    fn a_flood_of_clients_does_not_grow_the_table() {
        let limiter = MemoryLimiter::new(1);
        for client in 0..500_000 {
            take(&limiter, client, i64::from(client / 10));
        }
        for shard in &limiter.shards {
            assert!(shard.lock().len() <= CLIENTS_PER_SHARD);
        }
    }
}
