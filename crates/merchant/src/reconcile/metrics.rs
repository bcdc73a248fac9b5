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

#[cfg(test)]
mod tests {
    use prometheus_client::encoding::text::encode;

    use super::*;

    #[test]
    fn operators_see_what_was_found_and_when() {
        let metrics = Metrics::new();
        let found = Reconciliation { difference_count: 3, ..Reconciliation::new(7) };
        metrics.note(&found, 1_767_225_600_999);
        let mut text = String::new();
        encode(&mut text, &metrics.registry().lock()).unwrap();
        for line in ["portal_reconcile_differences 3", "portal_reconcile_last_success_timestamp 1767225600"] {
            assert!(text.contains(line), "{text}");
        }
    }
}
