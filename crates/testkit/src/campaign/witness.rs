//! What clients saw before the node was killed.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use alloy_primitives::B256;

/// Shared by all clients of one life of the node.
#[derive(Debug, Clone, Default)]
pub(super) struct Witness(Arc<Mutex<Seen>>);

/// Blocks and mined transactions that a client was told of.
#[derive(Debug, Clone, Default)]
pub(super) struct Seen {
    /// Hashes by height.
    pub(super) blocks: BTreeMap<u64, B256>,
    /// Height by transaction.
    pub(super) mined: BTreeMap<B256, u64>,
}

impl Witness {
    pub(super) fn block(&self, number: u64, hash: B256, transactions: impl IntoIterator<Item = B256>) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        seen.blocks.insert(number, hash);
        seen.mined.extend(transactions.into_iter().map(|hash| (hash, number)));
    }

    pub(super) fn mined(&self, transaction: B256, block: u64) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).mined.insert(transaction, block);
    }

    pub(super) fn highest_block(&self) -> Option<u64> {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let by_receipt = seen.mined.values().max();
        seen.blocks.last_key_value().map(|(number, _)| number).max(by_receipt).copied()
    }

    pub(super) fn seen(&self) -> Seen {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
