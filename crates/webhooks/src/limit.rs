//! How often a wallet may test its webhook.

use std::collections::{HashMap, VecDeque};

use alloy_primitives::Address;
use parking_lot::Mutex;

const WINDOW_MS: u64 = 60_000;
const MOST: usize = 10;
/// Wallets beyond which those that have not tested of late are forgotten.
const MANY: usize = 4_096;

/// The tests of the last minute, by wallet.
#[derive(Default)]
pub(crate) struct TestLimit {
    tests: Mutex<HashMap<Address, VecDeque<u64>>>,
}

impl TestLimit {
    /// Counts a test, or says in how many seconds one may be made.
    pub(crate) fn take(&self, wallet: Address, now: u64) -> Result<(), u64> {
        let mut tests = self.tests.lock();
        // A clock that was set back locks nobody out.
        let counts = |at: &u64| (now.saturating_sub(WINDOW_MS - 1)..=now).contains(at);
        if tests.len() > MANY {
            tests.retain(|_, times| times.back().is_some_and(counts));
        }
        let times = tests.entry(wallet).or_default();
        times.retain(counts);
        match times.front() {
            Some(first) if times.len() >= MOST => Err((first + WINDOW_MS - now).div_ceil(1_000)),
            _ => {
                times.push_back(now);
                Ok(())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_tests_in_any_minute() {
        let (limit, wallet) = (TestLimit::default(), Address::ZERO);
        for second in 0..10 {
            assert_eq!(limit.take(wallet, 100_000 + second * 1_000), Ok(()));
        }
        assert_eq!(limit.take(wallet, 109_001), Err(51));
        assert_eq!(limit.take(Address::repeat_byte(1), 109_001), Ok(()));
        assert_eq!(limit.take(wallet, 159_999), Err(1));
        assert_eq!(limit.take(wallet, 160_000), Ok(()));
        assert_eq!(limit.take(wallet, 160_001), Err(1));
        assert_eq!(limit.take(wallet, 5), Ok(()), "the clock was set back");
    }
}
