//! The stream of events that all connections listen to, and the recent transactions that filters poll.

use std::{
    collections::VecDeque,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use alloy_primitives::B256;
use parking_lot::Mutex;
use tokio::sync::broadcast::{Receiver, Sender};

use super::{HeadEvent, PendingEvent};
use crate::block::{Block, Receipt, Transaction};

/// Transactions that polling filters can look back on.
const REMEMBERED_PENDING: usize = 65_536;

/// Where events come in and go out.
pub(crate) struct Feed {
    heads: Sender<Arc<HeadEvent>>,
    pending: Sender<Arc<PendingEvent>>,
    last_id: AtomicU64,
    recent: Mutex<RecentPending>,
}

/// Hashes of the newest transactions, counted from the start of the server.
#[derive(Default)]
struct RecentPending {
    /// Count of all transactions seen, so that the last hash has number `seen - 1`.
    seen: u64,
    hashes: VecDeque<B256>,
}

impl Feed {
    pub(crate) fn new(queued: usize) -> Self {
        Self {
            heads: Sender::new(queued),
            // Transactions come in bursts that heads do not have.
            pending: Sender::new(queued.saturating_mul(16)),
            last_id: AtomicU64::new(0),
            recent: Mutex::default(),
        }
    }

    /// Tells everybody of a block.
    pub(crate) fn announce_head(&self, block: Arc<Block>, receipts: Arc<Vec<Receipt>>) {
        if self.heads.receiver_count() > 0 {
            // Only fails when the last listener has just left.
            let _ = self.heads.send(Arc::new(HeadEvent::new(block, receipts)));
        }
    }

    /// Tells everybody of a transaction.
    pub(crate) fn announce_pending(&self, transaction: Arc<Transaction>) {
        {
            let mut recent = self.recent.lock();
            if recent.hashes.len() == REMEMBERED_PENDING {
                recent.hashes.pop_front();
            }
            recent.hashes.push_back(*transaction.tx_hash());
            recent.seen += 1;
        }
        if self.pending.receiver_count() > 0 {
            let _ = self.pending.send(Arc::new(PendingEvent::new(transaction)));
        }
    }

    /// How many transactions have been announced.
    pub(crate) fn pending_seen(&self) -> u64 {
        self.recent.lock().seen
    }

    /// The transactions announced since the given count (those that are still remembered), and the new count.
    pub(crate) fn pending_since(&self, seen: u64) -> (Vec<B256>, u64) {
        let recent = self.recent.lock();
        let missed = usize::try_from(recent.seen.saturating_sub(seen)).unwrap_or(usize::MAX);
        let skip = recent.hashes.len().saturating_sub(missed);
        (recent.hashes.iter().skip(skip).copied().collect(), recent.seen)
    }

    /// A new id for a subscription or filter, never used before.
    pub(crate) fn next_id(&self) -> u64 {
        self.last_id.fetch_add(1, Ordering::Relaxed) + 1
    }

    pub(super) fn heads(&self) -> Receiver<Arc<HeadEvent>> {
        self.heads.subscribe()
    }

    pub(super) fn pending(&self) -> Receiver<Arc<PendingEvent>> {
        self.pending.subscribe()
    }
}
