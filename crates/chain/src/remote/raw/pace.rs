//! How long nodes take: on average, by which one is chosen, and at most as a rule, after which a second one is asked.

use std::{
    sync::atomic::{AtomicI64, AtomicU64, Ordering},
    time::Duration,
};

use crate::Lane;

/// What is thought of a node that has not answered yet.
const UNKNOWN_MICROS: u64 = 1_000;
/// A new answer counts for an eighth of the average.
const WEIGHT: u64 = 8;
/// A second node is never asked sooner than this.
const MIN_HEDGE_DELAY: Duration = Duration::from_millis(5);
/// First guess of how long all but one of twenty answers take.
const FIRST_GUESS_MICROS: u64 = 20_000;
/// One second question for so many first ones.
const HEDGE_COST: i64 = 20;
/// Second questions that may be saved up.
const MAX_SAVED: i64 = 32;

/// The average of one node.
pub(crate) struct Latency(AtomicU64);

impl Default for Latency {
    fn default() -> Self {
        Self(AtomicU64::new(UNKNOWN_MICROS))
    }
}

impl Latency {
    /// Takes note of an answer. A slow one counts at once, a fast one by and by.
    pub(crate) fn note(&self, took: Duration) {
        let micros = micros(took);
        let average = self.0.load(Ordering::Relaxed);
        let next = if micros > average { micros } else { (average * (WEIGHT - 1) + micros) / WEIGHT };
        self.0.store(next.max(1), Ordering::Relaxed);
    }

    /// The average.
    pub(crate) fn average(&self) -> Duration {
        Duration::from_micros(self.0.load(Ordering::Relaxed))
    }

    /// What asking a node with so much to do costs.
    pub(crate) fn cost(&self, load: usize) -> u64 {
        self.0.load(Ordering::Relaxed).saturating_mul(load as u64 + 1)
    }
}

/// When a second node is asked, and how often.
pub(crate) struct Hedging {
    cheap: AtomicU64,
    heavy: AtomicU64,
    saved: AtomicI64,
}

impl Default for Hedging {
    fn default() -> Self {
        Self {
            cheap: AtomicU64::new(FIRST_GUESS_MICROS),
            heavy: AtomicU64::new(FIRST_GUESS_MICROS),
            saved: AtomicI64::new(0),
        }
    }
}

impl Hedging {
    fn estimate(&self, lane: Lane) -> Option<&AtomicU64> {
        match lane {
            Lane::Small | Lane::Cheap => Some(&self.cheap),
            Lane::Heavy => Some(&self.heavy),
            Lane::Write => None,
        }
    }

    /// Takes note of an answer: the estimate rises by nineteen steps or falls by one, and so comes to rest where one of
    /// twenty answers is above it.
    pub(crate) fn note(&self, lane: Lane, took: Duration) {
        let Some(estimate) = self.estimate(lane) else { return };
        let now = estimate.load(Ordering::Relaxed);
        let step = now / 200 + 1;
        let next = if micros(took) > now { now + 19 * step } else { now.saturating_sub(step) };
        estimate.store(next.max(1), Ordering::Relaxed);
    }

    /// How long to wait for a first answer.
    pub(crate) fn delay(&self, lane: Lane) -> Duration {
        let micros =
            self.estimate(lane).map_or(FIRST_GUESS_MICROS, |estimate| estimate.load(Ordering::Relaxed));
        Duration::from_micros(micros).max(MIN_HEDGE_DELAY)
    }

    /// Counts a first question.
    pub(crate) fn earn(&self) {
        if self.saved.load(Ordering::Relaxed) < MAX_SAVED * HEDGE_COST {
            self.saved.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether a second question may be asked; it counts if so.
    pub(crate) fn spend(&self) -> bool {
        let spent = |saved: i64| saved.checked_sub(HEDGE_COST).filter(|rest| *rest >= 0);
        self.saved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spent).is_ok()
    }
}

fn micros(took: Duration) -> u64 {
    u64::try_from(took.as_micros()).unwrap_or(u64::MAX / WEIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_twenty_questions_is_asked_twice_at_most() {
        let hedging = Hedging::default();
        let twice = (0..1000).filter(|_| {
            hedging.earn();
            hedging.spend()
        });
        assert_eq!(twice.count(), 50);
        assert!(!hedging.spend());
    }

    #[test]
    fn the_delay_settles_above_most_answers() {
        let hedging = Hedging::default();
        for round in 0..20_000u64 {
            // Answers between 10 and 30 milliseconds.
            hedging.note(Lane::Cheap, Duration::from_micros(10_000 + (round * 7_919) % 20_000));
        }
        let delay = hedging.delay(Lane::Cheap);
        assert!((26..=30).contains(&delay.as_millis()), "{delay:?}");
        for _ in 0..20_000 {
            hedging.note(Lane::Cheap, Duration::from_micros(100));
        }
        assert_eq!(hedging.delay(Lane::Cheap), MIN_HEDGE_DELAY);
    }

    #[test]
    fn a_slow_answer_is_remembered_and_slowly_forgiven() {
        let latency = Latency::default();
        latency.note(Duration::from_millis(100));
        assert_eq!(latency.cost(0), 100_000);
        (0..40).for_each(|_| latency.note(Duration::from_micros(200)));
        assert!(latency.cost(0) < 1_000 && latency.cost(3) == 4 * latency.cost(0));
    }
}
