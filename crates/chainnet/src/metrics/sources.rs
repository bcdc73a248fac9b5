//! What the parts of a process tell that have no registry of their own: all of it is at hand when somebody asks.

use std::{fmt, sync::Arc};

use access::{Keyring, KeyringHealth};
use chain::{ChainClient, Head, RawUpstream};
use devchain::{chain::Chain, produce::ProductionMetrics};
use indexer::IndexStatus;
use jiff::Timestamp;
use merchant::CreditProgress;
use prometheus_client::encoding::text::encode_registry;
use store::Db;
use tokio::sync::watch;

use super::{Figures, Metrics};

/// What an index may be doing.
const INDEX_STATES: [&str; 5] = ["starting", "backfilling", "following", "standby", "halted"];

/// The head, its age, and the nodes.
pub(crate) fn chain_figures(
    metrics: &Metrics,
    client: &Arc<dyn ChainClient>,
    upstream: &Arc<dyn RawUpstream>,
) {
    let (client, upstream) = (client.clone(), upstream.clone());
    metrics.add_figures("chain", move |figures| {
        let head = client.heads().borrow().clone();
        let nodes = upstream.nodes();
        write_head(figures, head.as_deref(), client.is_reachable())?;
        let heads = nodes.iter().map(|node| ([("node", node.name.as_str())], number(node.head)));
        figures.gauges("node_head", "Height of a node's head; -1 while it is not known", heads)?;
        let usable =
            nodes.iter().map(|node| ([("node", node.name.as_str())], f64::from(u8::from(node.is_usable))));
        figures.gauges("node_usable", "Whether a node is asked", usable)
    });
}

fn write_head(figures: &mut Figures<'_>, head: Option<&Head>, is_reachable: bool) -> fmt::Result {
    let now = Timestamp::now().as_second();
    let age = head.map(|head| now.saturating_sub_unsigned(head.header.timestamp).max(0));
    let number = number(head.map(Head::number));
    figures.gauge("head", "Height of the newest block; -1 while it is not known", number)?;
    let age = age.map_or(-1.0, |age| age as f64);
    figures.gauge("head_age_seconds", "Age of the newest block; -1 while there is none", age)?;
    let reachable = f64::from(u8::from(is_reachable));
    figures.gauge("reachable", "Whether a node answered lately", reachable)
}

/// Connections and failures of the database.
pub(crate) fn database_figures(metrics: &Metrics, db: &Db) {
    let db = db.clone();
    metrics.add_figures("database", move |figures| {
        let pools = db.pools();
        let open = pools.iter().map(|pool| ([("pool", pool.name)], f64::from(pool.open)));
        figures.gauges("connections", "Open connections", open)?;
        let used = pools.iter().map(|pool| ([("pool", pool.name)], f64::from(pool.in_use)));
        figures.gauges("connections_in_use", "Connections that are doing something", used)?;
        let most = pools.iter().map(|pool| ([("pool", pool.name)], f64::from(pool.most)));
        figures.gauges("connections_max", "Connections that there may be", most)?;
        let failures = store::failure_counts().map(|(kind, count)| ([("kind", kind)], count));
        figures.counters("errors", "Statements that failed; a conflict is a race that was lost", failures)
    });
}

/// How far the index is.
pub(crate) fn index_figures(
    metrics: &Metrics,
    status: watch::Receiver<IndexStatus>,
    client: Arc<dyn ChainClient>,
) {
    metrics.add_figures("index", move |figures| {
        let (state, at) = match &*status.borrow() {
            IndexStatus::Starting => ("starting", None),
            IndexStatus::Backfilling { at, .. } => ("backfilling", *at),
            IndexStatus::Following { at } => ("following", Some(*at)),
            IndexStatus::Standby { at } => ("standby", *at),
            IndexStatus::Halted { at, .. } => ("halted", *at),
        };
        let head = client.heads().borrow().as_ref().map(|head| head.number());
        figures.gauge("block", "Last block of the index; -1 while there is none", number(at))?;
        let lag = head.map(|head| head.saturating_sub(at.unwrap_or(0)));
        figures.gauge(
            "lag_blocks",
            "Blocks that the index is behind; -1 while that is not known",
            number(lag),
        )?;
        let halted = f64::from(u8::from(state == "halted"));
        figures.gauge("halted", "Whether the index has stopped until somebody looks", halted)?;
        let states = INDEX_STATES.map(|name| ([("state", name)], f64::from(u8::from(name == state))));
        figures.gauges("state", "What the index is doing", states)
    });
}

/// The keys of the gateway as this process knows them.
pub(crate) fn keyring_figures(metrics: &Metrics, keyring: &Arc<Keyring>) {
    let keyring = keyring.clone();
    metrics.add_figures("keyring", move |figures| {
        let keys = keyring.key_count() as f64;
        figures.gauge("keys", "Keys, revoked and expired ones among them", keys)?;
        let fresh = f64::from(u8::from(keyring.health() == KeyringHealth::Fresh));
        figures.gauge("fresh", "Whether the keys are those of the database", fresh)
    });
}

/// How far payments are credited.
pub(crate) fn portal_figures(metrics: &Metrics, progress: &CreditProgress, client: Arc<dyn ChainClient>) {
    let credited = progress.subscribe();
    metrics.add_figures("portal", move |figures| {
        let block = credited.borrow().block;
        let head = client.heads().borrow().as_ref().map(|head| head.number());
        let help = "Last block whose payments are credited; -1 while there is none";
        figures.gauge("credited_block", help, number(block))?;
        let lag = head.map(|head| head.saturating_sub(block.unwrap_or(0)));
        figures.gauge("credit_lag_blocks", "Blocks that crediting is behind", number(lag))
    });
}

/// The embedded chain.
pub(crate) struct DevchainSource {
    pub(crate) chain: Arc<Chain>,
    pub(crate) production: Arc<ProductionMetrics>,
}

impl DevchainSource {
    /// Block production and the pool.
    pub(crate) fn add_to(self, metrics: &Metrics) {
        let Self { chain, production } = self;
        metrics.add(move |out| encode_registry(out, &production.registry().lock()));
        metrics.add_figures("devchain_pool", move |figures| {
            let status = chain.pool().status();
            let counts = [("executable", status.executable), ("waiting", status.waiting)];
            let counts = counts.map(|(state, count)| ([("state", state)], count as f64));
            figures.gauges("transactions", "Transactions in the pool", counts)?;
            figures.gauge("bytes", "Memory that they take", status.bytes as f64)
        });
    }
}

fn number(known: Option<u64>) -> f64 {
    known.map_or(-1.0, |known| known as f64)
}
