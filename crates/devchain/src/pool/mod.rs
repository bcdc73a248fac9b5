//! Transactions that wait for a block.
//!
//! The pool knows accounts only by what its callers tell it: the state of a sender when it adds a transaction and
//! the transactions of each new block. It is locked inside; no method waits for anything but that lock.

mod error;
mod index;
mod limits;
mod queue;
mod rules;
mod suspension;
#[cfg(test)]
mod tests;

use std::{borrow::Borrow, sync::Arc};

use alloy_consensus::Transaction as _;
use alloy_primitives::{Address, B256, map::AddressMap};
use parking_lot::Mutex;

pub use error::PoolError;
pub use limits::PoolLimits;
pub use rules::{PoolRules, SenderState};

use crate::block::Transaction;
use index::{Index, Newcomer};

/// What became of a transaction that was added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Added {
    /// No lower nonce is missing.
    pub executable: bool,
    /// The transaction with the same sender and nonce that had to make room.
    pub replaced: Option<B256>,
}

/// A transaction in the pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pooled {
    /// The transaction.
    pub transaction: Arc<Transaction>,
    /// No lower nonce is missing.
    pub executable: bool,
}

/// How full the pool is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PoolStatus {
    /// Transactions that could go into the next block.
    pub executable: usize,
    /// Transactions that wait for a lower nonce.
    pub waiting: usize,
    /// Memory held by all of them.
    pub bytes: usize,
}

/// The transaction pool.
#[derive(Debug)]
pub struct Pool {
    limits: PoolLimits,
    index: Mutex<Index>,
}

impl Pool {
    /// An empty pool.
    pub fn new(limits: PoolLimits) -> Self {
        Self { limits, index: Mutex::new(Index::default()) }
    }

    /// Checks a transaction against the rules and its sender's account, and keeps it.
    pub fn add(
        &self,
        transaction: Arc<Transaction>,
        sender: SenderState,
        rules: &PoolRules,
    ) -> Result<Added, PoolError> {
        if self.contains(*transaction.inner().tx_hash()) {
            return Err(PoolError::AlreadyKnown);
        }
        rules.check(&transaction, &sender, &self.limits)?;
        let newcomer = Newcomer {
            is_funded: rules::is_funded(&transaction, &sender),
            transaction,
            account_nonce: sender.nonce,
        };
        self.index.lock().add(newcomer, rules, &self.limits)
    }

    /// Drops a transaction that took too long to execute, and takes nothing of its sender for a while: until the block that is
    /// answered. `building` is the block that it was to be in.
    pub fn suspend(&self, transaction: &Transaction, building: u64) -> u64 {
        let mut index = self.index.lock();
        index.remove(*transaction.inner().tx_hash());
        index.suspend(transaction.signer(), building)
    }

    /// What the pool takes.
    pub fn limits(&self) -> &PoolLimits {
        &self.limits
    }

    /// Up to `max` executable transactions for a block with this base fee, in nonce order within a sender: by effective tip;
    /// at equal tips those first whose sender could pay a price, then those with little gas, then by arrival.
    pub fn best(&self, base_fee: u64, max: usize) -> Vec<Arc<Transaction>> {
        self.index.lock().best(base_fee, max)
    }

    /// Drops what a new block has made stale: its transactions and others with their nonces.
    pub fn on_block<T: Borrow<Transaction>>(&self, mined: &[T]) {
        let mut nonces = AddressMap::<u64>::default();
        for tx in mined.iter().map(Borrow::borrow) {
            let next = tx.nonce().saturating_add(1);
            nonces.entry(tx.signer()).and_modify(|nonce| *nonce = next.max(*nonce)).or_insert(next);
        }
        let mut index = self.index.lock();
        for (sender, nonce) in nonces {
            index.settle(sender, nonce);
        }
    }

    /// Takes over all senders' nonces after the chain went back to an earlier block.
    pub fn on_revert(&self, nonce_of: impl Fn(Address) -> u64) {
        let senders = self.index.lock().senders();
        let nonces: Vec<_> = senders.into_iter().map(|sender| (sender, nonce_of(sender))).collect();
        let mut index = self.index.lock();
        for (sender, nonce) in nonces {
            index.rewind(sender, nonce);
        }
    }

    /// The nonce after the last of the sender's executable transactions; `None` if the pool holds none of the sender's.
    pub fn pending_nonce(&self, sender: Address) -> Option<u64> {
        self.index.lock().pending_nonce(sender)
    }

    /// The transaction with this hash.
    pub fn get(&self, hash: B256) -> Option<Arc<Transaction>> {
        self.index.lock().get(hash)
    }

    /// Whether the transaction with this hash is here.
    pub fn contains(&self, hash: B256) -> bool {
        self.index.lock().contains(hash)
    }

    /// Drops a transaction; those with higher nonces stay and wait for a new one in its place.
    pub fn remove(&self, hash: B256) -> Option<Arc<Transaction>> {
        self.index.lock().remove(hash)
    }

    /// Drops everything.
    pub fn clear(&self) {
        *self.index.lock() = Index::default();
    }

    /// Everything in the pool, by sender and nonce.
    pub fn content(&self) -> Vec<Pooled> {
        self.index.lock().content()
    }

    /// What one sender has in the pool, by nonce.
    pub fn content_of(&self, sender: Address) -> Vec<Pooled> {
        self.index.lock().content_of(sender)
    }

    /// How full the pool is.
    pub fn status(&self) -> PoolStatus {
        self.index.lock().status()
    }

    /// Number of transactions.
    pub fn len(&self) -> usize {
        self.index.lock().len()
    }

    /// Whether there are no transactions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
