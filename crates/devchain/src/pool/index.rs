//! All queues, and the orders over them that are kept up to date instead of being computed.

use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap},
    sync::Arc,
};

use alloy_consensus::Transaction as _;
use alloy_primitives::{
    Address, B256,
    map::{AddressMap, B256Map},
};

use super::{
    Added, PoolError, PoolLimits, PoolRules, PoolStatus, Pooled,
    queue::{Entry, Queue, Rank, Worth},
    suspension::Suspensions,
};
use crate::{block::Transaction, exec::RejectReason};

/// The pool behind its lock.
#[derive(Debug, Default)]
pub(super) struct Index {
    queues: AddressMap<Queue>,
    by_hash: B256Map<Arc<Transaction>>,
    /// First executable transaction of each sender.
    heads: BTreeSet<Rank>,
    /// Last transaction of each sender.
    tails: BTreeSet<Worth>,
    /// What the two orders are computed with.
    base_fee: u64,
    arrivals: u64,
    bytes: usize,
    suspensions: Suspensions,
}

/// A transaction that keeps to the rules.
pub(super) struct Newcomer {
    pub(super) transaction: Arc<Transaction>,
    pub(super) account_nonce: u64,
    /// The sender could pay for it if gas had a price.
    pub(super) is_funded: bool,
}

impl Index {
    pub(super) fn add(
        &mut self,
        newcomer: Newcomer,
        rules: &PoolRules,
        limits: &PoolLimits,
    ) -> Result<Added, PoolError> {
        let Newcomer { transaction: tx, account_nonce, is_funded } = newcomer;
        self.set_base_fee(rules.base_fee);
        if self.by_hash.contains_key(tx.inner().tx_hash()) {
            return Err(PoolError::AlreadyKnown);
        }
        let (sender, nonce) = (tx.signer(), tx.nonce());
        if let Some(until) = self.suspensions.until(sender, rules.number) {
            return Err(PoolError::SenderSuspended { until });
        }
        // The caller may have read the account before a block that the pool has already seen, but not after.
        if self.queues.get(&sender).is_some_and(|queue| queue.nonce() < account_nonce) {
            self.settle(sender, account_nonce);
        }
        let (account_nonce, next) = match self.queues.get(&sender) {
            Some(queue) => (queue.nonce(), queue.run_end()),
            None => (account_nonce, account_nonce),
        };
        if nonce < account_nonce {
            return Err(RejectReason::NonceTooLow { tx: nonce, state: account_nonce }.into());
        }
        if nonce > next.saturating_add(limits.max_future_gap) {
            return Err(PoolError::NonceTooDistant { tx: nonce, next });
        }
        let entry = Entry::new(tx, self.arrivals, is_funded);
        let rival = self.queues.get(&sender).and_then(|queue| queue.entry(nonce));
        if rival.is_some_and(|rival| !outbids(&entry, rival, self.base_fee, limits.price_bump_percent)) {
            return Err(PoolError::ReplacementUnderpriced);
        }
        if rival.is_none() {
            let most = if is_funded { limits.max_per_sender } else { limits.max_per_unfunded_sender };
            self.make_room_at_sender(sender, nonce, most)?;
        }
        self.make_room(&entry, nonce <= next, limits)?;
        Ok(self.insert(entry, account_nonce))
    }

    pub(super) fn best(&mut self, base_fee: u64, max: usize) -> Vec<Arc<Transaction>> {
        self.set_base_fee(base_fee);
        let mut best = Vec::with_capacity(max.min(self.by_hash.len()));
        let mut heads = self.heads.iter().copied().peekable();
        let mut followers = BinaryHeap::<Reverse<Rank>>::new();
        while best.len() < max {
            let follower = followers.peek().map(|rank| rank.0);
            let next = match (heads.peek().copied(), follower) {
                (Some(head), Some(follower)) if follower < head => followers.pop().map(|rank| rank.0),
                (None, Some(_)) => followers.pop().map(|rank| rank.0),
                (Some(_), _) => heads.next(),
                (None, None) => None,
            };
            let Some(rank) = next else { break };
            let Some(queue) = self.queues.get(&rank.sender) else {
                continue;
            };
            best.extend(queue.entry(rank.nonce).map(|entry| entry.tx.clone()));
            followers.extend(queue.rank(rank.nonce + 1, base_fee).map(Reverse));
        }
        best
    }

    /// The account's nonce has moved forward.
    pub(super) fn settle(&mut self, sender: Address, nonce: u64) {
        if self.queues.get(&sender).is_some_and(|queue| queue.nonce() < nonce) {
            self.rewind(sender, nonce);
        }
    }

    /// The account's nonce is now this one, whatever it was.
    pub(super) fn rewind(&mut self, sender: Address, nonce: u64) {
        let stale = self.edit(sender, |queue| queue.set_nonce(nonce)).unwrap_or_default();
        for entry in stale {
            self.forget(&entry);
        }
    }

    pub(super) fn remove(&mut self, hash: B256) -> Option<Arc<Transaction>> {
        let tx = self.by_hash.get(&hash)?.clone();
        self.remove_at(tx.signer(), tx.nonce());
        Some(tx)
    }

    /// Takes nothing of a sender for a while.
    pub(super) fn suspend(&mut self, sender: Address, building: u64) -> u64 {
        self.suspensions.begin(sender, building)
    }

    pub(super) fn get(&self, hash: B256) -> Option<Arc<Transaction>> {
        self.by_hash.get(&hash).cloned()
    }

    pub(super) fn contains(&self, hash: B256) -> bool {
        self.by_hash.contains_key(&hash)
    }

    pub(super) fn pending_nonce(&self, sender: Address) -> Option<u64> {
        self.queues.get(&sender).map(Queue::run_end)
    }

    pub(super) fn senders(&self) -> Vec<Address> {
        self.queues.keys().copied().collect()
    }

    pub(super) fn len(&self) -> usize {
        self.by_hash.len()
    }

    pub(super) fn status(&self) -> PoolStatus {
        let executable = self.queues.values().map(Queue::executable).sum();
        PoolStatus { executable, waiting: self.len().saturating_sub(executable), bytes: self.bytes }
    }

    pub(super) fn content(&self) -> Vec<Pooled> {
        let mut senders = self.senders();
        senders.sort_unstable();
        senders.into_iter().flat_map(|sender| self.content_of(sender)).collect()
    }

    pub(super) fn content_of(&self, sender: Address) -> Vec<Pooled> {
        let Some(queue) = self.queues.get(&sender) else {
            return Vec::new();
        };
        queue
            .entries()
            .map(|(nonce, entry)| Pooled {
                transaction: entry.tx.clone(),
                executable: nonce < queue.run_end(),
            })
            .collect()
    }

    /// Lets a sender at its limit fill a gap at the expense of its own last transaction.
    fn make_room_at_sender(&mut self, sender: Address, nonce: u64, limit: usize) -> Result<(), PoolError> {
        let Some(queue) = self.queues.get(&sender).filter(|queue| queue.len() >= limit) else {
            return Ok(());
        };
        match queue.last_nonce().filter(|last| *last > nonce) {
            Some(last) => {
                self.remove_at(sender, last);
                Ok(())
            }
            None => Err(PoolError::SenderLimit { limit }),
        }
    }

    /// Drops what is worth less than the newcomer until the newcomer fits.
    fn make_room(&mut self, newcomer: &Entry, joins_run: bool, limits: &PoolLimits) -> Result<(), PoolError> {
        let (sender, nonce) = (newcomer.tx.signer(), newcomer.tx.nonce());
        let tip = newcomer.tip(self.base_fee);
        let is_funded = !newcomer.standing.is_unfunded;
        loop {
            let rival = self.queues.get(&sender).and_then(|queue| queue.entry(nonce));
            let (freed, taken) = rival.map_or((0, 1), |rival| (rival.bytes, 0));
            let bytes = self.bytes - freed + newcomer.bytes;
            if self.len() + taken <= limits.max_transactions && bytes <= limits.max_bytes {
                return Ok(());
            }
            let victim = self.tails.first().filter(|victim| {
                let needed = victim.sender == sender && victim.nonce <= nonce;
                let is_executable = joins_run && tip.is_some();
                !needed && victim.is_below(is_executable, tip.unwrap_or_default(), is_funded)
            });
            let Some(victim) = victim.copied() else {
                return Err(PoolError::Full);
            };
            self.remove_at(victim.sender, victim.nonce);
        }
    }

    fn insert(&mut self, entry: Entry, account_nonce: u64) -> Added {
        let (sender, nonce, hash) = (entry.tx.signer(), entry.tx.nonce(), entry.hash());
        self.arrivals += 1;
        self.bytes += entry.bytes;
        self.by_hash.insert(hash, entry.tx.clone());
        self.queues.entry(sender).or_insert_with(|| Queue::new(sender, account_nonce));
        let replaced = self.edit(sender, |queue| queue.insert(entry)).flatten();
        if let Some(replaced) = &replaced {
            self.forget(replaced);
        }
        Added {
            executable: self.queues.get(&sender).is_some_and(|queue| nonce < queue.run_end()),
            replaced: replaced.map(|entry| entry.hash()),
        }
    }

    fn remove_at(&mut self, sender: Address, nonce: u64) {
        if let Some(removed) = self.edit(sender, |queue| queue.remove(nonce)).flatten() {
            self.forget(&removed);
        }
    }

    fn forget(&mut self, entry: &Entry) {
        self.bytes -= entry.bytes;
        self.by_hash.remove(&entry.hash());
    }

    /// Changes a queue and, with it, its place in the orders; an empty queue goes away.
    fn edit<R>(&mut self, sender: Address, change: impl FnOnce(&mut Queue) -> R) -> Option<R> {
        let base_fee = self.base_fee;
        let queue = self.queues.get_mut(&sender)?;
        let before = (queue.rank(queue.nonce(), base_fee), queue.worth(base_fee));
        let result = change(queue);
        let after = (queue.rank(queue.nonce(), base_fee), queue.worth(base_fee));
        if queue.is_empty() {
            self.queues.remove(&sender);
        }
        if before.0 != after.0 {
            before.0.map(|rank| self.heads.remove(&rank));
            self.heads.extend(after.0);
        }
        if before.1 != after.1 {
            before.1.map(|worth| self.tails.remove(&worth));
            self.tails.extend(after.1);
        }
        Some(result)
    }

    fn set_base_fee(&mut self, base_fee: u64) {
        if self.base_fee == base_fee {
            return;
        }
        self.base_fee = base_fee;
        self.heads = self.queues.values().filter_map(|queue| queue.rank(queue.nonce(), base_fee)).collect();
        self.tails = self.queues.values().filter_map(|queue| queue.worth(base_fee)).collect();
    }
}

/// Whether a replacement raises both the fee cap and the tip by enough.
fn outbids(new: &Entry, old: &Entry, base_fee: u64, bump_percent: u64) -> bool {
    let raised = |new: u128, old: u128| {
        new.saturating_mul(100) >= old.saturating_mul(u128::from(bump_percent).saturating_add(100))
    };
    let tips = (new.tip(base_fee).unwrap_or_default(), old.tip(base_fee).unwrap_or_default());
    raised(new.tx.max_fee_per_gas(), old.tx.max_fee_per_gas()) && raised(tips.0, tips.1)
}
