//! What is counted for operators. Labels are fixed: nothing of a merchant's becomes one.

use std::sync::Arc;

use parking_lot::Mutex;
use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};
use store::portal::AfterAttempt;

/// Upper bounds in seconds.
const BUCKETS: [f64; 13] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 15.0];

type Labels = [(&'static str, &'static str); 1];

/// What an attempt came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The receiver took it.
    Delivered,
    /// It is tried again.
    Failed,
    /// It was the last attempt.
    Exhausted,
}

impl From<AfterAttempt> for Outcome {
    fn from(after: AfterAttempt) -> Self {
        match after {
            AfterAttempt::Delivered => Self::Delivered,
            AfterAttempt::RetryAt(_) => Self::Failed,
            AfterAttempt::Exhausted => Self::Exhausted,
        }
    }
}

impl Outcome {
    fn label(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Failed => "failed",
            Self::Exhausted => "exhausted",
        }
    }
}

/// All metrics. Cheap to clone.
#[derive(Clone)]
pub struct WebhookMetrics {
    registry: Arc<Mutex<Registry>>,
    attempts: Family<Labels, Counter>,
    seconds: Histogram,
    wait: Histogram,
    pub(crate) disabled: Counter,
    pub(crate) in_flight: Gauge,
    pub(crate) queued: Gauge,
    pub(crate) oldest_due: Gauge,
}

impl Default for WebhookMetrics {
    fn default() -> Self {
        let metrics = Self {
            registry: Arc::new(Mutex::new(Registry::with_prefix("webhooks"))),
            attempts: Family::default(),
            seconds: Histogram::new(BUCKETS),
            wait: Histogram::new(BUCKETS),
            disabled: Counter::default(),
            in_flight: Gauge::default(),
            queued: Gauge::default(),
            oldest_due: Gauge::default(),
        };
        // So that every series is there from the start, and a first one is an increase.
        for outcome in [Outcome::Delivered, Outcome::Failed, Outcome::Exhausted] {
            drop(metrics.attempts.get_or_create(&[("outcome", outcome.label())]));
        }
        metrics.register();
        metrics
    }
}

impl WebhookMetrics {
    /// The registry to be served.
    pub fn registry(&self) -> &Mutex<Registry> {
        &self.registry
    }

    fn register(&self) {
        let mut registry = self.registry.lock();
        registry.register("attempts", "Attempts by what they came to", self.attempts.clone());
        let seconds = self.seconds.clone();
        registry.register_with_unit("attempt", "Time of an attempt", Unit::Seconds, seconds);
        let wait = self.wait.clone();
        registry.register_with_unit("wait", "Time from a delivery to its first attempt", Unit::Seconds, wait);
        registry.register("disabled", "Endpoints that were disabled", self.disabled.clone());
        registry.register("in_flight", "Attempts under way", self.in_flight.clone());
        registry.register("queued", "Deliveries that wait or are under way", self.queued.clone());
        let oldest = self.oldest_due.clone();
        registry.register_with_unit(
            "oldest_due",
            "How long the delivery waits that is due longest",
            Unit::Seconds,
            oldest,
        );
    }

    pub(crate) fn attempted(&self, outcome: Outcome, seconds: f64) {
        self.attempts.get_or_create(&[("outcome", outcome.label())]).inc();
        self.seconds.observe(seconds);
    }

    pub(crate) fn left(&self, wait_seconds: f64) {
        self.wait.observe(wait_seconds);
    }
}
