//! Blocks, receipts and places of transactions: what is final.
//!
//! Blocks and receipts are kept by hash and stay true whatever happens. What is kept by number, or says that something is
//! on the chain, is forgotten when the heads do not follow each other: then either some were missed, or `evm_revert` has
//! taken blocks back on a development chain.

use std::sync::Arc;

use alloy_primitives::B256;
use parking_lot::Mutex;
use quick_cache::{Weighter, sync::Cache};

use super::CacheLimits;
use crate::{Block, FoundTransaction, Head, Receipt};

/// Heights and transactions whose block is remembered; each takes less than a hundred bytes.
const PLACES: usize = 16_384;

/// Which line of blocks something was read from. Changes when blocks are taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line(u64);

/// What is remembered of final blocks.
pub(super) struct History {
    blocks: Cache<B256, Arc<Block>, ByBytes>,
    receipts: Cache<B256, Arc<Vec<Receipt>>, ByBytes>,
    hashes: Cache<u64, B256>,
    places: Cache<B256, (B256, usize)>,
    seen: Mutex<Seen>,
}

struct Seen {
    head: Option<Arc<Head>>,
    line: Line,
}

impl History {
    pub(super) fn new(limits: &CacheLimits) -> Self {
        // The first figure only sizes the tables. Few expected items keep a cache whole: of a cache in shards each
        // shard would be too small for a large block.
        Self {
            blocks: Cache::with_weighter(32, limits.block_bytes, ByBytes),
            receipts: Cache::with_weighter(32, limits.receipt_bytes, ByBytes),
            hashes: Cache::new(PLACES),
            places: Cache::new(PLACES),
            seen: Mutex::new(Seen { head: None, line: Line(0) }),
        }
    }

    /// Takes note of the served head; whether it is another one than before.
    pub(super) fn observe(&self, head: &Arc<Head>) -> bool {
        let mut seen = self.seen.lock();
        if seen.head.as_ref().is_some_and(|last| last.hash == head.hash) {
            return false;
        }
        let follows = seen.head.as_ref().is_some_and(|last| head.header.parent_hash == last.hash);
        if !follows {
            seen.line.0 += 1;
            self.hashes.clear();
            self.places.clear();
        }
        seen.head = Some(Arc::clone(head));
        true
    }

    /// The line of blocks that is read now.
    pub(super) fn line(&self) -> Line {
        self.seen.lock().line
    }

    pub(super) fn block_at(&self, number: u64) -> Option<Arc<Block>> {
        self.blocks.get(&self.hashes.get(&number)?)
    }

    pub(super) fn block_with(&self, hash: B256) -> Option<Arc<Block>> {
        self.blocks.get(&hash)
    }

    pub(super) fn receipts(&self, block: B256) -> Option<Arc<Vec<Receipt>>> {
        self.receipts.get(&block)
    }

    pub(super) fn transaction(&self, hash: B256) -> Option<FoundTransaction> {
        let (block, index) = self.places.get(&hash)?;
        Some(FoundTransaction::Mined { block: self.blocks.get(&block)?, index })
    }

    /// Keeps a block that was read from this line.
    pub(super) fn keep_block(&self, block: &Arc<Block>, line: Line) {
        self.blocks.insert(block.hash, Arc::clone(block));
        let seen = self.seen.lock();
        if seen.line == line {
            self.hashes.insert(block.number(), block.hash);
        }
    }

    pub(super) fn keep_receipts(&self, block: B256, receipts: &Arc<Vec<Receipt>>) {
        self.receipts.insert(block, Arc::clone(receipts));
    }

    /// Keeps where a transaction was found on this line.
    pub(super) fn keep_transaction(&self, hash: B256, found: &FoundTransaction, line: Line) {
        let FoundTransaction::Mined { block, index } = found else { return };
        self.keep_block(block, line);
        let seen = self.seen.lock();
        if seen.line == line {
            self.places.insert(hash, (block.hash, *index));
        }
    }
}

#[derive(Clone)]
struct ByBytes;

impl Weighter<B256, Arc<Block>> for ByBytes {
    fn weight(&self, _: &B256, block: &Arc<Block>) -> u64 {
        block.memory_bytes() as u64
    }
}

impl Weighter<B256, Arc<Vec<Receipt>>> for ByBytes {
    fn weight(&self, _: &B256, receipts: &Arc<Vec<Receipt>>) -> u64 {
        // The handle and the table's entry, so that even no receipts weigh something.
        (128 + receipts.iter().map(Receipt::memory_bytes).sum::<usize>()) as u64
    }
}
