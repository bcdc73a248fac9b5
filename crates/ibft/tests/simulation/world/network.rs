//! The simulated network: who can reach whom, and what becomes of a message on its way.

use rand::Rng;
use rand::rngs::StdRng;

/// How messages fare.
#[derive(Debug, Clone)]
pub(crate) struct Weather {
    /// Chance in a thousand that a message is lost.
    pub(crate) loss: u32,
    /// Chance in a thousand that a message arrives twice.
    pub(crate) repetition: u32,
    /// Longest delay. Delays differ from message to message, so order is lost too.
    pub(crate) max_delay_ms: u64,
}

impl Weather {
    pub(crate) const GOOD: Self = Self { loss: 0, repetition: 0, max_delay_ms: 80 };

    pub(crate) fn bad(rng: &mut StdRng) -> Self {
        Self {
            loss: rng.random_range(0..350),
            repetition: rng.random_range(0..100),
            max_delay_ms: *[50, 500, 3_000, 15_000].get(rng.random_range(0..4)).unwrap(),
        }
    }

    /// Delays of the copies that arrive.
    pub(crate) fn fates(&self, rng: &mut StdRng) -> Vec<u64> {
        if rng.random_range(0..1000) < self.loss {
            return vec![];
        }
        let copies = if rng.random_range(0..1000) < self.repetition { 2 } else { 1 };
        (0..copies).map(|_| rng.random_range(1..=self.max_delay_ms)).collect()
    }
}
