//! Which calls have been expensive, so that they are not run where they would hold others up.

use alloy_primitives::Address;
use quick_cache::sync::Cache;

/// Gas that may be executed on an asynchronous thread: a millisecond or two. A call that needs more is stopped there, run
/// on a worker and not tried there again. Gas is the measure because time is not: on a busy machine any call may wait
/// for the processor once.
pub(crate) const INLINE_GAS: u64 = 500_000;
/// Remembered slow calls.
const SLOW_CALLS: usize = 1024;

/// What a call is known by when its cost is remembered: contract and function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct CallKey {
    to: Address,
    selector: [u8; 4],
}

impl CallKey {
    /// The key of a call with this input.
    pub(crate) fn new(to: Address, input: &[u8]) -> Self {
        Self { to, selector: input.first_chunk::<4>().copied().unwrap_or_default() }
    }
}

/// The calls that have been slow.
pub(crate) struct CallCosts {
    slow: Cache<CallKey, ()>,
}

impl Default for CallCosts {
    fn default() -> Self {
        Self { slow: Cache::new(SLOW_CALLS) }
    }
}

impl CallCosts {
    /// Whether this call was slow when it last ran.
    pub(crate) fn is_slow(&self, key: &CallKey) -> bool {
        self.slow.get(key).is_some()
    }

    /// Remembers what a call used.
    pub(crate) fn note(&self, key: CallKey, gas: u64) {
        if gas > INLINE_GAS {
            self.slow.insert(key, ());
        } else if self.is_slow(&key) {
            self.slow.remove(&key);
        }
    }
}
