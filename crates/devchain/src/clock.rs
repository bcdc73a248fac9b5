//! The chain's clock: the machine's time plus an offset that development methods can move forward.

use std::{
    sync::atomic::{AtomicI64, Ordering},
    time::{SystemTime, UNIX_EPOCH},
};

/// Milliseconds since the epoch, never behind the head's timestamp after [`ChainClock::not_before`].
#[derive(Debug, Default)]
pub struct ChainClock {
    offset_ms: AtomicI64,
}

impl ChainClock {
    /// The chain's time in milliseconds.
    pub fn now_ms(&self) -> u64 {
        machine_ms().saturating_add_signed(self.offset_ms.load(Ordering::Relaxed))
    }

    /// The chain's time in whole seconds.
    pub fn now_secs(&self) -> u64 {
        self.now_ms() / 1000
    }

    /// How far the chain's time is ahead of the machine's, in milliseconds.
    pub fn offset_ms(&self) -> i64 {
        self.offset_ms.load(Ordering::Relaxed)
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
        let offset = i128::from(at_ms) - i128::from(machine_ms());
        self.restore(i64::try_from(offset).unwrap_or(i64::MAX));
    }

    /// Goes back to an offset seen earlier, for `evm_revert`.
    pub fn restore(&self, offset_ms: i64) {
        self.offset_ms.store(offset_ms, Ordering::Relaxed);
    }
}

#[expect(clippy::disallowed_methods, reason = "this is the clock that everything else asks")]
fn machine_ms() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}
