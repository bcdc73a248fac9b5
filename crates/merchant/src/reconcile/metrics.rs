//! What operators are told of comparisons.

use parking_lot::Mutex;
use prometheus_client::{metrics::gauge::Gauge, registry::Registry};

use super::Reconciliation;

/// Handles of the figures.
pub(super) struct Metrics {
    differences: Gauge,
    last_success: Gauge,
    registry: Mutex<Registry>,
}

impl Metrics {
    pub(super) fn new() -> Self {
        let (differences, last_success) = (Gauge::default(), Gauge::default());
        let mut registry = Registry::with_prefix("portal_reconcile");
        registry.register(
            "differences",
            "Differences between chain and database at the last comparison",
            differences.clone(),
        );
        registry.register(
            "last_success_timestamp",
            "When chain and database were last compared, in Unix seconds",
            last_success.clone(),
        );
        Self { differences, last_success, registry: Mutex::new(registry) }
    }

    pub(super) fn registry(&self) -> &Mutex<Registry> {
        &self.registry
    }

    pub(super) fn note(&self, found: &Reconciliation, now_millis: u64) {
        self.differences.set(i64::try_from(found.difference_count).unwrap_or(i64::MAX));
        self.last_success.set(i64::try_from(now_millis / 1000).unwrap_or(i64::MAX));
    }
}
