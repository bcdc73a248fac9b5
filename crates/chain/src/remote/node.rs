//! One node, and what is remembered of it.
//!
//! Calls of others are passed on as bytes by [`Node::pass_on`] (`raw::call`); the typed questions of the access layer are in `reads` and
//! go through [`Node::ask`] (`ask`). Which node is asked is decided elsewhere.

use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU64, Ordering},
};

use parking_lot::Mutex;
use tokio::{sync::Notify, time::Instant};

use super::{
    RemoteConfig,
    bundle::Bundles,
    dial::Dialer,
    health::{Health, Turn},
    raw::{Lanes, Latency},
    transport::HttpTransport,
    url::NodeUrl,
};

/// One node of the chain.
pub struct Node {
    url: NodeUrl,
    pub(super) transport: HttpTransport,
    pub(super) config: RemoteConfig,
    health: Mutex<Health>,
    /// Told when it should be asked how it is.
    doubt: Notify,
    pub(super) lanes: Lanes,
    pub(super) latency: Latency,
    pub(super) bundles: Bundles,
    /// The id of the next request. No two on one connection have the same, so that an answer is known to be to this one.
    next_id: AtomicU64,
    /// The node has answered that it does not know `eth_getBlockReceipts`.
    lacks_block_receipts: AtomicBool,
}

impl Node {
    pub(super) fn new(url: NodeUrl, dialer: Arc<Dialer>, config: RemoteConfig) -> Self {
        Self {
            transport: HttpTransport::new(url.http.clone(), dialer, &config),
            lanes: Lanes::new(config.max_places(), config.max_waiting),
            doubt: Notify::new(),
            next_id: AtomicU64::new(1),
            latency: Latency::default(),
            bundles: Bundles::default(),
            url,
            config,
            health: Mutex::default(),
            lacks_block_receipts: AtomicBool::new(false),
        }
    }

    /// Where the node is.
    pub fn url(&self) -> &NodeUrl {
        &self.url
    }

    /// Ids for so many requests: the first of them.
    pub(super) fn take_ids(&self, count: usize) -> u64 {
        self.next_id.fetch_add(count as u64, Ordering::Relaxed)
    }

    /// Calls under way and waiting.
    pub(super) fn load(&self) -> usize {
        self.transport.in_flight() + self.lanes.waiting()
    }

    /// What asking it costs, by which nodes are compared.
    pub(super) fn cost(&self) -> u64 {
        self.latency.cost(self.load())
    }

    /// Requests under way, by which load is spread.
    pub fn in_flight(&self) -> usize {
        self.transport.in_flight()
    }

    /// Whether the node answered lately.
    pub fn is_reachable(&self) -> bool {
        self.health.lock().is_reachable()
    }

    /// Whether the node may be asked while this head is served.
    pub fn is_usable(&self, served: Option<u64>) -> bool {
        self.health.lock().is_usable(Instant::now(), served, &self.config)
    }

    /// The node's newest block, as far as it has told.
    pub fn head(&self) -> Option<u64> {
        self.health.lock().head()
    }

    pub(super) fn note_head(&self, number: u64) {
        self.health.lock().note_head(number);
    }

    pub(super) fn note_verified(&self) {
        self.health.lock().note_verified();
    }

    /// Whether it is news that the node is on another chain.
    pub(super) fn note_stranger(&self) -> bool {
        self.health.lock().note_stranger()
    }

    pub(super) fn is_verified(&self) -> bool {
        self.health.lock().is_verified()
    }

    pub(super) fn lacks_block_receipts(&self) -> bool {
        self.lacks_block_receipts.load(Ordering::Relaxed)
    }

    pub(super) fn note_lack_of_block_receipts(&self) {
        if !self.lacks_block_receipts.swap(true, Ordering::Relaxed) {
            tracing::info!(node = %self.url, "the node has no eth_getBlockReceipts; receipts are asked for one by one");
        }
    }

    pub(super) fn note_answer(&self) {
        let turn = self.health.lock().note_answer();
        self.log(turn, None);
    }

    /// Something went wrong that may be due to what was asked. Strangers decide that, so it says nothing of the node by itself: it is asked
    /// how it is, and that counts.
    pub(super) fn note_doubt(&self) {
        self.doubt.notify_one();
    }

    /// Resolves when it should be asked how it is.
    pub(super) async fn doubted(&self) {
        self.doubt.notified().await;
    }

    /// It failed in a way that nobody but the node is to blame for.
    pub(super) fn note_failure(&self, error: &(dyn std::error::Error + 'static)) {
        let turn = self.health.lock().note_failure(Instant::now(), &self.config);
        self.log(turn, Some(error));
    }

    fn log(&self, turn: Option<Turn>, error: Option<&(dyn std::error::Error + 'static)>) {
        match turn {
            Some(Turn::Paused) => {
                tracing::warn!(node = %self.url, error, "a node keeps failing and is left alone for a while");
            }
            Some(Turn::Recovered) => tracing::info!(node = %self.url, "a node answers again"),
            None => {}
        }
    }
}
