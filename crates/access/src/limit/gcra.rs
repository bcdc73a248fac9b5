//! The generic cell rate algorithm: a limit per minute, kept in one number.
//!
//! The number is the time at which everything that was used will be there again. Using something moves it on; a use that
//! would move it further ahead than a minute is refused. A full minute may be used at once, and then it comes back
//! evenly. Times are nanoseconds since 1970.

use std::num::NonZeroU32;

use jiff::Timestamp;

const MINUTE: u64 = 60_000_000_000;
/// No use matters longer than this: a minute, and what rounding adds.
pub(super) const LONGEST: u64 = MINUTE + u32::MAX as u64;

/// A limit per minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rate {
    limit: u32,
    /// What one use moves the time by: rounded up, so that a minute never holds more than the limit.
    interval: u64,
}

impl Rate {
    pub(super) fn per_minute(limit: NonZeroU32) -> Self {
        Self { limit: limit.get(), interval: MINUTE.div_ceil(u64::from(limit.get())) }
    }

    pub(super) const fn limit(self) -> u32 {
        self.limit
    }

    /// How far ahead the time is when everything is used.
    pub(super) const fn window(self) -> u64 {
        self.interval * self.limit as u64
    }

    /// How long it takes for so much to come back. At most the limit: whatever costs more costs everything.
    pub(super) fn span(self, cost: u32) -> u64 {
        self.interval * u64::from(cost.min(self.limit))
    }

    /// The number without the past, and without a future that cannot be: a clock that was set back locks nobody out.
    pub(super) fn settled(self, arrival: u64, now: u64) -> u64 {
        if (now..=now.saturating_add(self.window())).contains(&arrival) { arrival } else { now }
    }

    /// The number after a use, or how long until it can be made.
    pub(super) fn spend(self, arrival: u64, cost: u32, now: u64) -> Result<u64, u64> {
        let next = self.settled(arrival, now).saturating_add(self.span(cost));
        let latest = now.saturating_add(self.window());
        if next <= latest { Ok(next) } else { Err(next - latest) }
    }

    /// What is left.
    pub(super) fn remaining(self, arrival: u64, now: u64) -> u32 {
        self.limit - self.used(arrival, now)
    }

    /// What is used.
    pub(super) fn used(self, arrival: u64, now: u64) -> u32 {
        let ahead = self.settled(arrival, now) - now;
        u32::try_from(ahead.div_ceil(self.interval)).unwrap_or(self.limit).min(self.limit)
    }
}

/// A time as it is counted here. Before 1970 there is nothing to count.
pub(super) fn nanoseconds(now: Timestamp) -> u64 {
    u64::try_from(now.as_nanosecond()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: u64 = 1_700_000_000 * 1_000_000_000;

    fn rate(limit: u32) -> Rate {
        Rate::per_minute(NonZeroU32::new(limit).unwrap())
    }

    #[test]
    fn the_whole_limit_may_be_used_at_once_and_no_more() {
        for limit in [1, 7, 300, 599, 100_000] {
            let (rate, mut arrival) = (rate(limit), 0);
            for used in 0..limit {
                assert_eq!(rate.remaining(arrival, NOW), limit - used);
                arrival = rate.spend(arrival, 1, NOW).unwrap();
            }
            let wait = rate.spend(arrival, 1, NOW).unwrap_err();
            assert_eq!(wait, rate.interval);
            assert!(rate.spend(arrival, 1, NOW + wait - 1).is_err());
            assert!(rate.spend(arrival, 1, NOW + wait).is_ok());
        }
    }

    #[test]
    fn what_costs_more_than_there_ever_is_costs_everything() {
        let arrival = rate(10).spend(0, u32::MAX, NOW).unwrap();
        assert_eq!(rate(10).remaining(arrival, NOW), 0);
        assert!(rate(10).spend(arrival - 1, u32::MAX, NOW).is_err());
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        let used_up = rate(3).spend(0, 3, NOW).unwrap();
        assert!(rate(3).spend(used_up, 1, NOW).is_err());
        assert!(rate(3).spend(used_up, 1, NOW - 3_600_000_000_000).is_ok());
        assert!(rate(3).spend(u64::MAX, 1, 0).is_ok() && rate(3).spend(0, 1, u64::MAX).is_ok());
    }

    /// A bucket that holds the limit and is filled up evenly, in fractions that have no rounding.
    struct Bucket {
        limit: u128,
        /// In parts of a use: one use is a minute's nanoseconds.
        level: u128,
        at: u64,
    }

    impl Bucket {
        fn spend(&mut self, cost: u32, now: u64) -> bool {
            let minute = u128::from(MINUTE);
            self.level = (self.level + u128::from(now - self.at) * self.limit).min(self.limit * minute);
            self.at = now;
            let cost = u128::from(cost).min(self.limit) * minute;
            let is_granted = cost <= self.level;
            if is_granted {
                self.level -= cost;
            }
            is_granted
        }
    }

    proptest! {
        /// The only difference is the rounding of the interval, which is to the limit's side: never more than the bucket.
        #[test]
        fn as_strict_as_a_bucket_and_as_generous_where_nothing_is_rounded(
            limit in prop_oneof![Just(1u32), Just(60), Just(300), Just(600), 1u32..5_000],
            steps in prop::collection::vec((0u64..2_000_000_000, 1u32..40), 1..200),
        ) {
            let rate = rate(limit);
            let mut bucket = Bucket { limit: limit.into(), level: u128::from(limit) * u128::from(MINUTE), at: NOW };
            let (mut arrival, mut now) = (0, NOW);
            let is_exact = MINUTE.is_multiple_of(u64::from(limit));
            for (pause, cost) in steps {
                now += pause;
                let spent = rate.spend(arrival, cost, now);
                if is_exact {
                    prop_assert_eq!(spent.is_ok(), bucket.spend(cost, now));
                } else if spent.is_ok() {
                    prop_assert!(bucket.spend(cost, now), "more than the bucket holds");
                }
                arrival = spent.unwrap_or(arrival);
            }
        }

        #[test]
        fn nothing_overflows(limit in 1u32.., arrival: u64, cost: u32, now: u64) {
            let rate = rate(limit);
            let _ = rate.spend(arrival, cost, now);
            prop_assert!(rate.remaining(arrival, now) <= limit);
            prop_assert!(rate.window() <= LONGEST);
        }
    }
}
