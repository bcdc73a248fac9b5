//! The chain's clock: the machine's time, without its steps back, plus an offset that development methods can move forward.
//!
//! Blocks must not be older than their parents, and must go on coming when somebody sets the machine's clock. Set forward,
//! the chain's clock goes along. Set back, it goes on at nearly its pace, until the machine's has caught up.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use parking_lot::Mutex;
use tracing::{info, warn};

/// The part of the time that is let pass, while the machine's clock is behind, to be in step again some day: a block
/// of two seconds comes 31 ms late, and ten seconds are made up in eleven minutes.
const SLOWED_BY: u32 = 64;
/// Between two readings the machine's clock may be off by this without having been set.
const STEP: Duration = Duration::from_millis(500);
/// From here on it is told that the machine's clock is behind, and up to here that it no longer is.
const BEHIND: Duration = Duration::from_secs(1);
const IN_STEP: Duration = Duration::from_millis(100);

/// Milliseconds since the epoch, never behind the head's timestamp after [`ChainClock::not_before`].
#[derive(Default)]
pub struct ChainClock {
    offset_ms: AtomicI64,
    machine: Steady,
}

impl ChainClock {
    /// A clock that follows another one than the machine's: the time since the epoch.
    pub fn following(source: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self { offset_ms: AtomicI64::default(), machine: Steady::new(Box::new(source)) }
    }

    /// The chain's time in milliseconds.
    pub fn now_ms(&self) -> u64 {
        self.machine.now_ms().saturating_add_signed(self.offset_ms.load(Ordering::Relaxed))
    }

    /// The chain's time in whole seconds.
    pub fn now_secs(&self) -> u64 {
        self.now_ms() / 1000
    }

    /// How far the chain's time is ahead of the machine's, in milliseconds.
    pub fn offset_ms(&self) -> i64 {
        self.offset_ms.load(Ordering::Relaxed)
    }

    /// How far the machine's clock has been set forward so far, in milliseconds. The time went nowhere in between, so
    /// nobody has missed anything.
    pub(crate) fn set_forward_ms(&self) -> i64 {
        self.machine.now_ms();
        self.machine.set_forward_ms.load(Ordering::Relaxed)
    }

    /// Moves the clock forward.
    pub fn advance_ms(&self, by: u64) {
        self.offset_ms.fetch_add(i64::try_from(by).unwrap_or(i64::MAX), Ordering::Relaxed);
    }

    /// Moves the clock forward to `at` unless it is already past it.
    pub fn not_before(&self, at_ms: u64) {
        self.advance_ms(at_ms.saturating_sub(self.now_ms()));
    }

    /// Moves the clock to exactly `at`, which may be back.
    pub fn set_ms(&self, at_ms: u64) {
        let offset = i128::from(at_ms) - i128::from(self.machine.now_ms());
        self.restore(i64::try_from(offset).unwrap_or(i64::MAX));
    }

    /// Goes back to an offset seen earlier, for `evm_revert`.
    pub fn restore(&self, offset_ms: i64) {
        self.offset_ms.store(offset_ms, Ordering::Relaxed);
    }
}

/// A clock that never steps back.
struct Steady {
    source: Box<dyn Fn() -> Duration + Send + Sync>,
    last: Mutex<Option<Reading>>,
    set_forward_ms: AtomicI64,
}

#[derive(Clone, Copy)]
struct Reading {
    /// What was read.
    time: Duration,
    /// When, by a clock that nobody can set.
    at: Instant,
    is_behind: bool,
}

impl Default for Steady {
    fn default() -> Self {
        Self::new(Box::new(machine_time))
    }
}

impl Steady {
    fn new(source: Box<dyn Fn() -> Duration + Send + Sync>) -> Self {
        Self { source, last: Mutex::default(), set_forward_ms: AtomicI64::default() }
    }

    fn now_ms(&self) -> u64 {
        u64::try_from(self.read().as_millis()).unwrap_or(u64::MAX)
    }

    fn read(&self) -> Duration {
        let (machine, at) = ((self.source)(), Instant::now());
        let mut last = self.last.lock();
        let before = last.unwrap_or(Reading { time: machine, at, is_behind: false });
        let passed = at.saturating_duration_since(before.at);
        let time = machine.max(before.time + passed - passed / SLOWED_BY);
        let leap = time.saturating_sub(before.time + passed);
        if leap > STEP {
            let leap_ms = i64::try_from(leap.as_millis()).unwrap_or(i64::MAX);
            self.set_forward_ms.fetch_add(leap_ms, Ordering::Relaxed);
        }
        let behind = time.saturating_sub(machine);
        let is_behind = behind > if before.is_behind { IN_STEP } else { BEHIND };
        *last = Some(Reading { time, at: at.max(before.at), is_behind });
        drop(last);
        tell(before.is_behind, is_behind, leap, behind);
        time
    }
}

fn tell(was_behind: bool, is_behind: bool, leap: Duration, behind: Duration) {
    match (was_behind, is_behind) {
        (false, true) => warn!(
            behind_ms = behind.as_millis(),
            "the machine's clock was set back; blocks go on at their pace, ahead of it until it has caught up"
        ),
        (true, false) => info!("the machine's clock has caught up with the chain's"),
        (false, false) | (true, true) => {}
    }
    if leap > STEP {
        warn!(by_ms = leap.as_millis(), "the machine's clock was set forward, and the chain's goes along");
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the clock that everything else asks")]
fn machine_time() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, atomic::AtomicU64};

    use super::*;

    /// A clock over one that is set by hand and does not move by itself.
    fn by_hand(ms: u64) -> (Arc<AtomicU64>, ChainClock) {
        let hand = Arc::new(AtomicU64::new(ms));
        let source = Arc::clone(&hand);
        (hand, ChainClock::following(move || Duration::from_millis(source.load(Ordering::Relaxed))))
    }

    #[test]
    fn a_step_forward_is_followed_and_counted() {
        let (hand, clock) = by_hand(1_000_000);
        assert_eq!(clock.now_ms(), 1_000_000);
        hand.store(4_600_000, Ordering::Relaxed);
        assert_eq!(clock.now_ms(), 4_600_000);
        let counted = clock.set_forward_ms();
        assert!((3_500_000..=3_600_000).contains(&counted), "{counted}");
    }

    #[test]
    fn a_step_back_is_not_followed_until_it_is_made_up() {
        let (hand, clock) = by_hand(10_000_000);
        let mut last = clock.now_ms();
        for machine in [9_995_000, 1, 0, 9_999_999] {
            hand.store(machine, Ordering::Relaxed);
            for _ in 0..1000 {
                let now = clock.now_ms();
                assert!(now >= last, "{now} after {last}");
                last = now;
            }
        }
        assert_eq!(clock.set_forward_ms(), 0);
        hand.store(20_000_000, Ordering::Relaxed);
        assert_eq!(clock.now_ms(), 20_000_000);
    }

    #[test]
    fn a_moved_clock_stays_moved_when_the_machines_is_set_back() {
        let (hand, clock) = by_hand(1_000_000);
        clock.set_ms(5_000_000);
        hand.store(1, Ordering::Relaxed);
        assert!(clock.now_ms() >= 5_000_000);
        assert_eq!(clock.offset_ms(), 4_000_000);
    }
}
