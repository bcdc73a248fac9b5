//! What is counted for operators: fixed label sets.

use std::sync::atomic::AtomicU64;

use alloy_primitives::U256;
use domain::Wei;
use parking_lot::Mutex;
use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};
use store::keeper::{ActionState, KeeperTask, OffenceKind, SetChange};

type Labels<const N: usize> = [(&'static str, &'static str); N];

/// All metrics.
pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    actions: Family<Labels<2>, Counter>,
    reports: Family<Labels<1>, Counter>,
    votes: Family<Labels<2>, Counter>,
    expelled: Gauge,
    waiting: Gauge,
    balances: Family<Labels<1>, Gauge<f64, AtomicU64>>,
    low: Family<Labels<1>, Gauge>,
    forks: Gauge,
    pub(crate) lease_held: Gauge,
    pub(crate) head: Gauge,
    pub(crate) judged: Gauge,
    pub(crate) down: Gauge,
    pub(crate) open_actions: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let metrics = Self {
            registry: Mutex::default(),
            actions: Family::default(),
            reports: Family::default(),
            votes: Family::default(),
            expelled: Gauge::default(),
            waiting: Gauge::default(),
            balances: Family::default(),
            low: Family::default(),
            forks: Gauge::default(),
            lease_held: Gauge::default(),
            head: Gauge::default(),
            judged: Gauge::default(),
            down: Gauge::default(),
            open_actions: Gauge::default(),
        };
        // So that every series is there from the start, and a first one is an increase.
        for task in KeeperTask::ALL {
            for result in ["begun", "done", "superseded", "failed", "refused"] {
                let _ = metrics.actions.get_or_create(&[("kind", task.name()), ("result", result)]);
            }
        }
        for change in SetChange::ALL {
            for result in ["begun", "done", "superseded", "failed"] {
                let _ = metrics.votes.get_or_create(&[("kind", change.name()), ("result", result)]);
            }
        }
        for kind in OffenceKind::ALL {
            let _ = metrics.reports.get_or_create(&[("kind", kind.name())]);
        }
        metrics.register();
        metrics
    }

    fn register(&self) {
        let mut registry = Registry::with_prefix("keeper");
        registry.register("actions", "Actions on chain by kind and result", self.actions.clone());
        registry.register("open_actions", "Actions that are not closed yet", self.open_actions.clone());
        registry.register("reports", "Offences reported, by kind", self.reports.clone());
        registry.register("votes", "Votes on the validator set by kind and result", self.votes.clone());
        registry.register(
            "validators_expelled",
            "Validators in the set whose operators are not in the registry any more",
            self.expelled.clone(),
        );
        registry.register(
            "validators_waiting",
            "Accepted operators with a stake whose nodes are not in the set",
            self.waiting.clone(),
        );
        registry.register("validators_down", "Validators that are down now", self.down.clone());
        registry.register(
            "forked_nodes",
            "Nodes that serve another chain than the one followed",
            self.forks.clone(),
        );
        registry.register("balance_coin", "Balance of a watched account, in coin", self.balances.clone());
        registry.register(
            "balance_low",
            "Whether a watched account is below its least balance",
            self.low.clone(),
        );
        registry.register(
            "lease_held",
            "Whether this process is the keeper that acts",
            self.lease_held.clone(),
        );
        registry.register("head", "Height of the last head that was looked at", self.head.clone());
        registry.register("judged", "Height as of which downtime was last judged", self.judged.clone());
        *self.registry.lock() = registry;
    }

    pub(crate) fn registry(&self) -> &Mutex<Registry> {
        &self.registry
    }

    pub(crate) fn begun(&self, task: KeeperTask) {
        self.action(task, "begun");
    }

    pub(crate) fn refused(&self, task: KeeperTask) {
        self.action(task, "refused");
    }

    pub(crate) fn closed(&self, task: KeeperTask, state: ActionState) {
        self.action(task, state.name());
    }

    fn action(&self, task: KeeperTask, result: &'static str) {
        self.actions.get_or_create(&[("kind", task.name()), ("result", result)]).inc();
    }

    pub(crate) fn reported(&self, kind: OffenceKind) {
        self.reports.get_or_create(&[("kind", kind.name())]).inc();
    }

    pub(crate) fn vote(&self, change: SetChange, result: &'static str) {
        self.votes.get_or_create(&[("kind", change.name()), ("result", result)]).inc();
    }

    /// Takes note of how many have to leave the set, and how many may join it.
    pub(crate) fn set_differs(&self, expelled: usize, waiting: usize) {
        self.expelled.set(i64::try_from(expelled).unwrap_or(i64::MAX));
        self.waiting.set(i64::try_from(waiting).unwrap_or(i64::MAX));
    }

    pub(crate) fn balance(&self, account: &'static str, balance: Wei, is_low: bool) {
        self.balances.get_or_create(&[("account", account)]).set(coin(balance));
        self.low.get_or_create(&[("account", account)]).set(i64::from(is_low));
    }

    pub(crate) fn forks(&self, nodes: usize) {
        self.forks.set(i64::try_from(nodes).unwrap_or(i64::MAX));
    }
}

/// Whole coin, for a graph. Amounts that count are never floating point.
#[expect(clippy::cast_precision_loss, reason = "a graph does not show the fifteenth digit")]
fn coin(amount: Wei) -> f64 {
    let milli = amount.0 / U256::from(1_000_000_000_000_000u64);
    u64::try_from(milli).unwrap_or(u64::MAX) as f64 / 1_000.0
}
