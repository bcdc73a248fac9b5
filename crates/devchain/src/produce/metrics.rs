//! What is counted of block production.

use parking_lot::Mutex;
use prometheus_client::{
    metrics::{counter::Counter, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};

/// Upper bounds in seconds.
const BUCKETS: [f64; 11] = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 1.0, 2.0];

/// Metrics of block production.
pub struct ProductionMetrics {
    registry: Mutex<Registry>,
    /// Time to build a proposal: selecting transactions and executing them.
    pub(super) build: Histogram,
    /// Time to make a sealed block the head, on the disk.
    pub(super) commit: Histogram,
    pub(super) blocks: Counter,
    pub(super) transactions: Counter,
    /// Transactions that were dropped because they took too long.
    pub(super) stopped: Counter,
    /// Rounds that ended without a block.
    pub(super) failed_rounds: Counter,
    /// Validators of this node that run.
    pub(super) running: Gauge,
}

impl ProductionMetrics {
    pub(super) fn new() -> Self {
        let metrics = Self {
            registry: Mutex::new(Registry::with_prefix("devchain")),
            build: Histogram::new(BUCKETS),
            commit: Histogram::new(BUCKETS),
            blocks: Counter::default(),
            transactions: Counter::default(),
            stopped: Counter::default(),
            failed_rounds: Counter::default(),
            running: Gauge::default(),
        };
        metrics.register();
        metrics
    }

    /// The registry to be served.
    pub fn registry(&self) -> &Mutex<Registry> {
        &self.registry
    }

    fn register(&self) {
        let mut registry = self.registry.lock();
        let build = self.build.clone();
        registry.register_with_unit("build", "Time to build a proposal", Unit::Seconds, build);
        let commit = self.commit.clone();
        registry.register_with_unit("commit", "Time to make a sealed block the head", Unit::Seconds, commit);
        registry.register("blocks", "Blocks that were sealed", self.blocks.clone());
        registry.register("transactions", "Transactions in them", self.transactions.clone());
        let stopped = "Transactions that were dropped because they took too long to execute";
        registry.register("transactions_stopped", stopped, self.stopped.clone());
        let failed = self.failed_rounds.clone();
        registry.register("failed_rounds", "Rounds of consensus that ended without a block", failed);
        registry.register("validators_running", "Validators of this node that run", self.running.clone());
    }
}
