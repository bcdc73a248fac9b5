//! One sender's transactions by nonce.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use alloy_consensus::{InMemorySize, Transaction as _};
use alloy_primitives::{Address, B256};

use crate::{block::Transaction, exec::HEAVY_GAS};

/// Index entries and shared pointers that a transaction brings with it, roughly.
const ENTRY_OVERHEAD: usize = 320;

/// A transaction in a queue.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) tx: Arc<Transaction>,
    /// Position in the order of all arrivals.
    pub(super) arrival: u64,
    pub(super) bytes: usize,
    pub(super) standing: Standing,
}

/// Who goes first among transactions with the same tip: the smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Standing {
    /// The sender could not pay for it if gas had a price.
    pub(super) is_unfunded: bool,
    /// It may keep the block waiting.
    is_heavy: bool,
}

impl Entry {
    pub(super) fn new(tx: Arc<Transaction>, arrival: u64, is_funded: bool) -> Self {
        let bytes = tx.inner().size() + ENTRY_OVERHEAD;
        let standing = Standing { is_unfunded: !is_funded, is_heavy: tx.gas_limit() > HEAVY_GAS };
        Self { tx, arrival, bytes, standing }
    }

    pub(super) fn hash(&self) -> B256 {
        *self.tx.inner().tx_hash()
    }

    /// What the block's proposer earns per gas; `None` below the base fee.
    pub(super) fn tip(&self, base_fee: u64) -> Option<u128> {
        self.tx.effective_tip_per_gas(base_fee)
    }
}

/// Rank among executable transactions; the smallest goes into a block first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rank {
    tip: Reverse<u128>,
    standing: Standing,
    arrival: u64,
    pub(super) sender: Address,
    pub(super) nonce: u64,
}

/// Worth of a queue's last transaction; the smallest is the first to go when the pool is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Worth {
    executable: bool,
    tip: u128,
    is_funded: bool,
    arrival: Reverse<u64>,
    pub(super) sender: Address,
    pub(super) nonce: u64,
}

impl Worth {
    /// Whether this is worth less than a newcomer with that standing. Among equals, who is there stays.
    pub(super) fn is_below(&self, executable: bool, tip: u128, is_funded: bool) -> bool {
        (self.executable, self.tip, self.is_funded) < (executable, tip, is_funded)
    }
}

/// A sender's transactions: a run without gaps from the account's nonce on, and others that wait.
#[derive(Debug)]
pub(super) struct Queue {
    sender: Address,
    /// The account's nonce.
    nonce: u64,
    /// The nonce after the run.
    run_end: u64,
    entries: BTreeMap<u64, Entry>,
}

impl Queue {
    pub(super) fn new(sender: Address, nonce: u64) -> Self {
        Self { sender, nonce, run_end: nonce, entries: BTreeMap::new() }
    }

    pub(super) fn nonce(&self) -> u64 {
        self.nonce
    }

    pub(super) fn run_end(&self) -> u64 {
        self.run_end
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub(super) fn entry(&self, nonce: u64) -> Option<&Entry> {
        self.entries.get(&nonce)
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = (u64, &Entry)> {
        self.entries.iter().map(|(nonce, entry)| (*nonce, entry))
    }

    pub(super) fn last_nonce(&self) -> Option<u64> {
        self.entries.last_key_value().map(|(nonce, _)| *nonce)
    }

    /// Number of transactions in the run.
    pub(super) fn executable(&self) -> usize {
        usize::try_from(self.run_end - self.nonce).unwrap_or(usize::MAX)
    }

    /// Puts a transaction in, returning one that had its nonce.
    pub(super) fn insert(&mut self, entry: Entry) -> Option<Entry> {
        let replaced = self.entries.insert(entry.tx.nonce(), entry);
        self.extend_run();
        replaced
    }

    /// Takes a transaction out; the run ends there.
    pub(super) fn remove(&mut self, nonce: u64) -> Option<Entry> {
        let removed = self.entries.remove(&nonce)?;
        self.run_end = self.run_end.min(nonce).max(self.nonce);
        Some(removed)
    }

    /// Takes over a new account nonce, returning the transactions that are stale by it.
    pub(super) fn set_nonce(&mut self, nonce: u64) -> Vec<Entry> {
        let mut stale = Vec::new();
        while let Some(first) = self.entries.first_entry().filter(|first| *first.key() < nonce) {
            stale.push(first.remove());
        }
        // A nonce within the run leaves the run's end where it is; any other starts a new run.
        if !(self.nonce..=self.run_end).contains(&nonce) {
            self.run_end = nonce;
        }
        self.nonce = nonce;
        self.extend_run();
        stale
    }

    fn extend_run(&mut self) {
        while self.entries.contains_key(&self.run_end) {
            self.run_end += 1;
        }
    }

    /// Rank of the transaction with this nonce if it is executable and pays the base fee.
    pub(super) fn rank(&self, nonce: u64, base_fee: u64) -> Option<Rank> {
        let entry = self.entries.get(&nonce).filter(|_| nonce < self.run_end)?;
        let tip = Reverse(entry.tip(base_fee)?);
        let (standing, arrival) = (entry.standing, entry.arrival);
        Some(Rank { tip, standing, arrival, sender: self.sender, nonce })
    }

    /// Worth of the last transaction.
    pub(super) fn worth(&self, base_fee: u64) -> Option<Worth> {
        let (&nonce, last) = self.entries.last_key_value()?;
        let tip = last.tip(base_fee);
        Some(Worth {
            executable: nonce < self.run_end && tip.is_some(),
            tip: tip.unwrap_or_default(),
            is_funded: !last.standing.is_unfunded,
            arrival: Reverse(last.arrival),
            sender: self.sender,
            nonce,
        })
    }
}
