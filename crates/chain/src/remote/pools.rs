//! What all nodes tell of their transaction pools, as one stream in which each hash comes once.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use alloy_primitives::{B256, map::HashSet};
use futures_util::{StreamExt, stream};
use parking_lot::Mutex;
use tokio::sync::{
    broadcast::{self, error::RecvError},
    watch,
};

use crate::PendingHashes;

/// Hashes that are recognised when another node tells of them. A pool of Besu holds fewer.
const REMEMBERED: usize = 32_768;
/// Hashes that a listener may be behind before it misses some.
const BACKLOG: usize = 16_384;
/// How long a new listener waits for a node to begin telling.
const FIRST_WORD: Duration = Duration::from_secs(1);

/// The nodes' pools together.
pub(super) struct Pools {
    hashes: broadcast::Sender<B256>,
    recent: Mutex<Recent>,
    /// How many listen. Feeds subscribe to their node's pool while this is not zero.
    listeners: watch::Sender<usize>,
    /// How many nodes tell at the moment.
    tellers: watch::Sender<usize>,
}

impl Default for Pools {
    fn default() -> Self {
        Self {
            hashes: broadcast::Sender::new(BACKLOG),
            recent: Mutex::default(),
            listeners: watch::Sender::new(0),
            tellers: watch::Sender::new(0),
        }
    }
}

impl Pools {
    /// Hashes from now on.
    pub(super) async fn listen(self: &Arc<Self>) -> PendingHashes {
        let listener = Counted::new(self, |pools| &pools.listeners);
        let hashes = self.hashes.subscribe();
        let mut tellers = self.tellers.subscribe();
        let told = tellers.wait_for(|tellers| *tellers > 0);
        // Without a node that tells, the listener is there when one comes.
        let _ = tokio::time::timeout(FIRST_WORD, told).await;
        stream::unfold((hashes, listener), |(mut hashes, listener)| async move {
            let hash = next(&mut hashes).await?;
            Some((hash, (hashes, listener)))
        })
        .boxed()
    }

    /// Whether anybody listens, now and from now on.
    pub(super) fn listeners(&self) -> watch::Receiver<usize> {
        self.listeners.subscribe()
    }

    /// A node that tells, until this is dropped.
    pub(super) fn teller(self: &Arc<Self>) -> Counted {
        Counted::new(self, |pools| &pools.tellers)
    }

    /// Passes a hash on, unless another node was quicker.
    pub(super) fn report(&self, hash: B256) {
        if self.recent.lock().note(hash) {
            // Only fails when the last listener has just left.
            let _ = self.hashes.send(hash);
        }
    }
}

async fn next(hashes: &mut broadcast::Receiver<B256>) -> Option<B256> {
    loop {
        match hashes.recv().await {
            Ok(hash) => return Some(hash),
            Err(RecvError::Lagged(missed)) => tracing::warn!(missed, "pending transactions were missed"),
            Err(RecvError::Closed) => return None,
        }
    }
}

/// Counts as one until it is dropped.
pub(super) struct Counted {
    pools: Arc<Pools>,
    counter: fn(&Pools) -> &watch::Sender<usize>,
}

impl Counted {
    fn new(pools: &Arc<Pools>, counter: fn(&Pools) -> &watch::Sender<usize>) -> Self {
        counter(pools).send_modify(|count| *count += 1);
        Self { pools: Arc::clone(pools), counter }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        (self.counter)(&self.pools).send_modify(|count| *count -= 1);
    }
}

/// The hashes that were told of last.
#[derive(Default)]
struct Recent {
    known: HashSet<B256>,
    order: VecDeque<B256>,
}

impl Recent {
    /// Whether this is news.
    fn note(&mut self, hash: B256) -> bool {
        if !self.known.insert(hash) {
            return false;
        }
        self.order.push_back(hash);
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.known.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_news_once_and_the_memory_is_bounded() {
        let mut recent = Recent::default();
        let hash = |number: usize| B256::left_padding_from(&number.to_be_bytes());
        for number in 0..=REMEMBERED {
            assert!(recent.note(hash(number)));
            assert!(!recent.note(hash(number)));
        }
        assert_eq!((recent.known.len(), recent.order.len()), (REMEMBERED, REMEMBERED));
        assert!(recent.note(hash(0)), "the oldest is forgotten");
    }

    #[tokio::test]
    async fn listeners_and_tellers_are_counted_while_they_last() {
        let pools = Arc::new(Pools::default());
        let listeners = pools.listeners();
        let teller = pools.teller();
        let stream = pools.listen().await;
        assert_eq!((*listeners.borrow(), *pools.tellers.borrow()), (1, 1));
        drop((stream, teller));
        assert_eq!((*listeners.borrow(), *pools.tellers.borrow()), (0, 0));
    }
}
