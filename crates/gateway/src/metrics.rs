//! What is counted for operators: fixed label sets, handles made once and found by the method's place in the table.
//!
//! Nothing that a caller wrote ever becomes a label.

use chain::NodeState;
use jsonrpc::Answer;
use parking_lot::Mutex;
use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge, histogram::Histogram},
    registry::{Registry, Unit},
};
use tokio::time::Instant;

use crate::{
    method::{Known, METHODS},
    refusal::Refusal,
};

/// How a request came to its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// From what the gateway itself knows.
    Local,
    /// From the newest blocks in memory.
    Warm,
    /// From an answer that was kept.
    Kept,
    /// From a node, or together with somebody who was asking the same.
    Asked,
    /// From a node, as nothing that is kept.
    Passed,
}

impl Way {
    const ALL: [Self; 5] = [Self::Local, Self::Warm, Self::Kept, Self::Asked, Self::Passed];

    fn label(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Warm => "warm",
            Self::Kept => "kept",
            Self::Asked => "asked",
            Self::Passed => "passed",
        }
    }
}

type Labels<const N: usize> = [(&'static str, &'static str); N];
type NodeLabels = [(&'static str, String); 1];

/// The name under which methods that do not exist are counted.
const OTHER: &str = "other";

/// The handles of one method.
struct MethodMetrics {
    ways: [Counter; Way::ALL.len()],
    errors: Counter,
    refused: Counter,
    seconds: Histogram,
}

/// All metrics.
pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    methods: Vec<MethodMetrics>,
    other: Counter,
    refusals: Family<[(&'static str, i64); 1], Counter>,
    head: Gauge,
    final_bytes: Gauge,
    head_bytes: Gauge,
    node_heads: Family<NodeLabels, Gauge>,
    node_usable: Family<NodeLabels, Gauge>,
    node_calls: Family<NodeLabels, Gauge>,
    /// Open connections.
    pub(crate) connections: Gauge,
    /// Those of them that are WebSockets.
    pub(crate) sockets: Gauge,
    socket_endings: Family<Labels<1>, Counter>,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let mut registry = Registry::with_prefix("gateway");
        let requests = Family::<Labels<2>, Counter>::default();
        let errors = Family::<Labels<1>, Counter>::default();
        let seconds = Family::<Labels<1>, Histogram>::new_with_constructor(|| Histogram::new(BUCKETS));
        let way = |name, way| requests.get_or_create(&[("method", name), ("way", way)]).clone();
        let methods = METHODS.iter().map(|method| MethodMetrics {
            ways: Way::ALL.map(|one| way(method.name, one.label())),
            errors: errors.get_or_create(&[("method", method.name)]).clone(),
            refused: way(method.name, "refused"),
            seconds: seconds.get_or_create(&[("method", method.name)]).clone(),
        });
        let metrics = Self {
            methods: methods.collect(),
            other: way(OTHER, "refused"),
            refusals: Family::default(),
            head: Gauge::default(),
            final_bytes: Gauge::default(),
            head_bytes: Gauge::default(),
            node_heads: Family::default(),
            node_usable: Family::default(),
            node_calls: Family::default(),
            connections: Gauge::default(),
            sockets: Gauge::default(),
            socket_endings: Family::default(),
            registry: Mutex::default(),
        };
        registry.register("requests", "Requests by method and how they were answered", requests);
        registry.register("node_errors", "Errors of nodes that were passed on, by method", errors);
        registry.register_with_unit("request", "Time to an answer, by method", Unit::Seconds, seconds);
        metrics.register_rest(&mut registry);
        *metrics.registry.lock() = registry;
        metrics
    }

    fn register_rest(&self, registry: &mut Registry) {
        registry.register(
            "refusals",
            "Requests refused by the gateway, by JSON-RPC code",
            self.refusals.clone(),
        );
        registry.register("head", "Height of the served head", self.head.clone());
        let (lasting, passing) = (self.final_bytes.clone(), self.head_bytes.clone());
        registry.register_with_unit("final_cache", "Answers kept for ever", Unit::Bytes, lasting);
        registry.register_with_unit("head_cache", "Answers kept until the next head", Unit::Bytes, passing);
        registry.register("connections", "Open connections of callers", self.connections.clone());
        registry.register("sockets", "Open WebSockets of callers", self.sockets.clone());
        let endings = self.socket_endings.clone();
        registry.register("socket_endings", "WebSockets that ended, by reason", endings);
        registry.register("node_head", "Height of a node's head", self.node_heads.clone());
        registry.register("node_usable", "Whether a node is asked", self.node_usable.clone());
        registry.register("node_calls", "Calls under way at a node", self.node_calls.clone());
    }

    pub(crate) fn registry(&self) -> &Mutex<Registry> {
        &self.registry
    }

    fn of(&self, known: Known) -> Option<&MethodMetrics> {
        self.methods.get(usize::from(known.index))
    }

    /// Counts a request that was answered, with its time if it was measured.
    pub(crate) fn answered(&self, known: Option<Known>, way: Way, answer: &Answer, started: Option<Instant>) {
        let Some(method) = known.and_then(|known| self.of(known)) else { return };
        if let Some(counter) = method.ways.get(way as usize) {
            counter.inc();
        }
        if matches!(answer, Answer::Error(_)) {
            method.errors.inc();
        }
        if let Some(started) = started {
            method.seconds.observe(started.elapsed().as_secs_f64());
        }
    }

    /// Counts a request that was refused.
    pub(crate) fn refused(&self, known: Option<Known>, refusal: &Refusal) {
        known.and_then(|known| self.of(known)).map_or(&self.other, |method| &method.refused).inc();
        self.refusals.get_or_create(&[("code", refusal.code())]).inc();
    }

    /// Counts a WebSocket that ended, for a reason of ours.
    pub(crate) fn socket_ended(&self, reason: &'static str) {
        self.socket_endings.get_or_create(&[("reason", reason)]).inc();
    }

    /// Takes note of a new head, and of how things are while it begins.
    pub(crate) fn head(&self, number: u64, (lasting, passing): (u64, u64), nodes: &[NodeState]) {
        let gauge = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        self.head.set(gauge(number));
        self.final_bytes.set(gauge(lasting));
        self.head_bytes.set(gauge(passing));
        for node in nodes {
            let labels = [("node", node.name.clone())];
            self.node_heads.get_or_create(&labels).set(node.head.map_or(-1, gauge));
            self.node_usable.get_or_create(&labels).set(i64::from(node.is_usable));
            self.node_calls.get_or_create(&labels).set(gauge(node.in_flight as u64));
        }
    }
}

const BUCKETS: [f64; 12] =
    [0.000_01, 0.000_05, 0.000_2, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.1, 0.5, 2.0, 10.0];
