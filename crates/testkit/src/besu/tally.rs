//! What a test may want to know of what was asked.

use std::{
    collections::BTreeMap,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Counts of one Besu.
#[derive(Debug, Default)]
pub(super) struct Tally {
    asked: Mutex<BTreeMap<String, usize>>,
    faults: Mutex<Vec<String>>,
    turned_away: AtomicUsize,
}

impl Tally {
    pub(super) fn note(&self, method: &str) {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        *asked.entry(method.to_owned()).or_default() += 1;
    }

    /// Notes a request that a caller who knows Besu does not send.
    pub(super) fn note_fault(&self, method: &str, why: &str) {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        faults.push(format!("{method}: {why}"));
    }

    pub(super) fn note_turned_away(&self) {
        self.turned_away.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn asked(&self, method: &str) -> usize {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).get(method).copied().unwrap_or_default()
    }

    pub(super) fn faults(&self) -> Vec<String> {
        self.faults.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn turned_away(&self) -> usize {
        self.turned_away.load(Ordering::Relaxed)
    }
}
