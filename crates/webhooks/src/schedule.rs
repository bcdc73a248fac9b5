//! When a delivery is tried again.

use std::time::Duration;

/// Seconds before each attempt; the last one is the end.
const DELAYS: [u64; 12] =
    [0, 5, 30, 2 * 60, 10 * 60, 30 * 60, 3_600, 3 * 3_600, 6 * 3_600, 12 * 3_600, 24 * 3_600, 24 * 3_600];

/// Attempts of a delivery.
pub const MOST_ATTEMPTS: u64 = DELAYS.len() as u64;
/// Failures in a row after which an endpoint is only probed.
pub const PROBED_AFTER: u64 = 10;
/// How long an endpoint may go without a success before it is disabled.
pub const DISABLED_AFTER: Duration = Duration::from_secs(5 * 24 * 3_600);
/// The longest `Retry-After` that is honoured.
pub const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(24 * 3_600);

/// Places in the schedule of the first and the longest pause between probes.
const FIRST_PAUSE: u64 = 3;
const LONGEST_PAUSE: u64 = 6;

/// How long to wait after this attempt failed; none if it was the last. `random` spreads those that failed together.
pub(crate) fn delay_after(attempt: u64, random: u32) -> Option<Duration> {
    let place = usize::try_from(attempt).ok()?;
    DELAYS.get(place).map(|seconds| spread(*seconds, random))
}

/// How long an endpoint is left alone that has failed so often in a row; none if it is not yet probed.
pub(crate) fn pause_after(failures: u64, random: u32) -> Option<Duration> {
    let probes = failures.checked_sub(PROBED_AFTER)?;
    delay_after((FIRST_PAUSE + probes).min(LONGEST_PAUSE), random)
}

/// A fifth less to a fifth more.
fn spread(seconds: u64, random: u32) -> Duration {
    let thousandths = 800 + u64::from(random) * 400 / u64::from(u32::MAX);
    Duration::from_millis(seconds * thousandths)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn twelve_tries_over_about_71_hours() {
        let total: u64 = DELAYS.iter().sum();
        assert_eq!((MOST_ATTEMPTS, (total + 1_800) / 3_600), (12, 71));
        assert_eq!(delay_after(1, u32::MAX / 2).map(|delay| delay.as_secs()), Some(4));
        assert_eq!((delay_after(12, 0), delay_after(u64::MAX, 0)), (None, None));
    }

    #[test]
    fn probes_become_rarer_up_to_one_an_hour() {
        assert_eq!(pause_after(9, 0), None);
        let pauses: Vec<u64> =
            (10..15).filter_map(|failures| Some(pause_after(failures, 0)?.as_secs())).collect();
        assert_eq!(pauses, [96, 480, 1_440, 2_880, 2_880]);
    }

    proptest! {
        #[test]
        fn delays_are_spread_by_a_fifth(attempt in 1u64..12, random: u32) {
            let delay = delay_after(attempt, random).unwrap().as_millis();
            let middle = u128::from(DELAYS[usize::try_from(attempt).unwrap()]) * 1_000;
            prop_assert!(delay * 10 >= middle * 8 && delay * 10 <= middle * 12);
        }
    }
}
