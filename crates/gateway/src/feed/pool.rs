//! News of the nodes' transaction pools, heard only while somebody wants it: a socket that subscribed, or a filter that
//! was polled lately.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use access::Clock;
use alloy_primitives::B256;
use chain::RawUpstream;
use futures_util::StreamExt;
use jiff::Timestamp;
use parking_lot::Mutex;
use tokio::{
    sync::{
        broadcast::{Receiver, Sender},
        watch,
    },
    time::Instant,
};

/// Batches of transactions that a socket may be behind.
const BACKLOG: usize = 256;
/// Most transactions in a batch: those that arrived together.
const BATCH: usize = 128;
/// Transactions that filters can look back on.
const REMEMBERED: usize = 16_384;
/// How long a new listener waits until the nodes are being heard.
const FIRST_WORD: Duration = Duration::from_secs(2);

/// When a transaction was heard of, in microseconds since 1970; no two at one moment. Replicas with clocks in step
/// understand each other's moments.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, serde::Serialize, serde::Deserialize,
)]
pub(crate) struct Moment(i64);

/// Transactions that were heard of together: the JSON of their hashes.
pub(crate) struct PoolBatch(Vec<String>);

impl PoolBatch {
    /// The hash at a position.
    pub(crate) fn hash(&self, position: usize) -> Option<&str> {
        self.0.get(position).map(String::as_str)
    }
}

/// The pools as the gateway hears them.
pub(crate) struct Pool {
    clock: Clock,
    batches: Sender<Arc<PoolBatch>>,
    listeners: watch::Sender<usize>,
    /// Polling filters want the pool to be heard until then.
    polled_until: Mutex<Option<Instant>>,
    is_heard: watch::Sender<bool>,
    recent: Mutex<Recent>,
}

impl Pool {
    pub(super) fn new(clock: Clock) -> Self {
        Self {
            clock,
            batches: Sender::new(BACKLOG),
            listeners: watch::Sender::new(0),
            polled_until: Mutex::default(),
            is_heard: watch::Sender::new(false),
            recent: Mutex::default(),
        }
    }

    /// Transactions from now on.
    pub(crate) async fn listen(self: &Arc<Self>) -> PoolListener {
        self.listeners.send_modify(|listeners| *listeners += 1);
        let listener = PoolListener { batches: self.batches.subscribe(), pool: Arc::clone(self) };
        self.heard().await;
        listener
    }

    /// Transactions since a moment, as far as they are remembered, and the moment to go on from. `None` if the pool was
    /// not being heard: it is from now on, and for this long.
    pub(crate) async fn poll(&self, since: Moment, keep: Duration) -> Option<(Vec<B256>, Moment)> {
        let was_heard = *self.is_heard.borrow();
        self.keep_hearing(keep).await;
        was_heard.then(|| self.recent.lock().since(since, (self.clock)()))
    }

    /// The moment from which a new filter begins; the pool is heard from now on, and for this long.
    pub(crate) async fn begin(&self, keep: Duration) -> Moment {
        self.keep_hearing(keep).await;
        self.recent.lock().next_moment((self.clock)())
    }

    async fn keep_hearing(&self, keep: Duration) {
        *self.polled_until.lock() = Some(Instant::now() + keep);
        // Wakes the follower; the number stays.
        self.listeners.send_modify(|_| {});
        self.heard().await;
    }

    async fn heard(&self) {
        let mut is_heard = self.is_heard.subscribe();
        let heard = is_heard.wait_for(|is_heard| *is_heard);
        // If no node can be heard yet, the listener is there when one can.
        let _ = tokio::time::timeout(FIRST_WORD, heard).await;
    }

    /// Hears the pools whenever somebody wants it.
    pub(super) async fn follow(&self, upstream: &dyn RawUpstream) {
        let mut listeners = self.listeners.subscribe();
        loop {
            while !self.is_wanted(*listeners.borrow_and_update()) {
                if listeners.changed().await.is_err() {
                    return;
                }
            }
            let mut hashes = upstream.pending().await.ready_chunks(BATCH);
            self.is_heard.send_replace(true);
            loop {
                tokio::select! {
                    batch = hashes.next() => match batch {
                        Some(batch) => self.tell(&batch),
                        None => return,
                    },
                    () = self.unwanted() => break,
                }
            }
            self.is_heard.send_replace(false);
            self.recent.lock().hashes.clear();
        }
    }

    fn is_wanted(&self, listeners: usize) -> bool {
        listeners > 0 || self.polled_until.lock().is_some_and(|until| until > Instant::now())
    }

    /// Waits until nobody wants the pool.
    async fn unwanted(&self) {
        let mut listeners = self.listeners.subscribe();
        while self.is_wanted(*listeners.borrow_and_update()) {
            let until = *self.polled_until.lock();
            let polls_end = async {
                match until {
                    Some(until) if until > Instant::now() => tokio::time::sleep_until(until).await,
                    Some(_) | None => std::future::pending().await,
                }
            };
            tokio::select! {
                () = polls_end => {}
                _ = listeners.changed() => {}
            }
        }
    }

    fn tell(&self, hashes: &[B256]) {
        self.recent.lock().note(hashes, (self.clock)());
        if self.batches.receiver_count() > 0 {
            let batch = hashes.iter().map(|hash| format!("\"{hash:#x}\"")).collect();
            let _ = self.batches.send(Arc::new(PoolBatch(batch)));
        }
    }
}

/// Listens to the pools until it is dropped.
pub(crate) struct PoolListener {
    batches: Receiver<Arc<PoolBatch>>,
    pool: Arc<Pool>,
}

impl PoolListener {
    pub(crate) fn batches(&mut self) -> &mut Receiver<Arc<PoolBatch>> {
        &mut self.batches
    }
}

impl Drop for PoolListener {
    fn drop(&mut self) {
        self.pool.listeners.send_modify(|listeners| *listeners -= 1);
    }
}

/// The transactions that were heard of last.
#[derive(Default)]
struct Recent {
    last: Moment,
    hashes: VecDeque<(Moment, B256)>,
}

impl Recent {
    fn next_moment(&mut self, now: Timestamp) -> Moment {
        self.last = Moment(now.as_microsecond()).max(Moment(self.last.0 + 1));
        self.last
    }

    fn note(&mut self, hashes: &[B256], now: Timestamp) {
        for hash in hashes {
            let moment = self.next_moment(now);
            if self.hashes.len() == REMEMBERED {
                self.hashes.pop_front();
            }
            self.hashes.push_back((moment, *hash));
        }
    }

    fn since(&mut self, since: Moment, now: Timestamp) -> (Vec<B256>, Moment) {
        let first = self.hashes.partition_point(|(moment, _)| *moment <= since);
        let found = self.hashes.iter().skip(first).map(|(_, hash)| *hash).collect();
        (found, self.next_moment(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn polls_see_each_transaction_once_and_the_memory_is_bounded() {
        // A clock that stands still is the hardest case.
        let now = Timestamp::UNIX_EPOCH;
        let mut recent = Recent::default();
        let begin = recent.next_moment(now);
        recent.note(&[B256::repeat_byte(1), B256::repeat_byte(2)], now);
        let (found, next) = recent.since(begin, now);
        assert_eq!(found, [B256::repeat_byte(1), B256::repeat_byte(2)]);
        recent.note(&[B256::repeat_byte(3)], now);
        assert_eq!(recent.since(next, now).0, [B256::repeat_byte(3)]);
        recent.note(&vec![B256::ZERO; REMEMBERED], now);
        assert_eq!(recent.since(begin, now).0.len(), REMEMBERED);
    }
}
