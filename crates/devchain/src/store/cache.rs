//! Caches bounded by the bytes they hold.

use std::sync::Arc;

use alloy_primitives::{B256, Bytes, map::FbBuildHasher};
use quick_cache::{OptionsBuilder, Weighter, sync::Cache};

use crate::block::{Block, Receipt};

const MIB: u64 = 1024 * 1024;
/// Memory of a cached entry beside its value: key, handle, allocator and table.
const ENTRY_BYTES: usize = 128;

pub(super) type BytesCache = Cache<B256, Bytes, ByBytes, FbBuildHasher<32>>;

pub(super) struct Caches {
    pub(super) nodes: BytesCache,
    pub(super) code: BytesCache,
    pub(super) blocks: Cache<u64, Arc<Block>, ByBytes>,
    pub(super) receipts: Cache<u64, Arc<Vec<Receipt>>, ByBytes>,
}

impl Caches {
    pub(super) fn new() -> Self {
        // The first figure only sizes the tables. Few expected items keep a cache whole: of a cache in shards each
        // shard would be too small for a large block.
        Self {
            nodes: bytes_cache(30_000, 24 * MIB),
            code: bytes_cache(32, 4 * MIB),
            blocks: Cache::with_weighter(32, 4 * MIB, ByBytes),
            receipts: Cache::with_weighter(32, 4 * MIB, ByBytes),
        }
    }
}

/// Execution reads a node and applying the block reads it again, so what was read once needs room too: the default
/// would keep nearly all of it for what was read often.
#[expect(clippy::expect_used, reason = "building fails only without the two capacities")]
fn bytes_cache(items: usize, bytes: u64) -> BytesCache {
    let options = OptionsBuilder::new()
        .estimated_items_capacity(items)
        .weight_capacity(bytes)
        .hot_allocation(0.3)
        .build()
        .expect("both capacities are set");
    Cache::with_options(options, ByBytes, Default::default(), Default::default())
}

#[derive(Clone)]
pub(super) struct ByBytes;

impl Weighter<B256, Bytes> for ByBytes {
    fn weight(&self, _: &B256, value: &Bytes) -> u64 {
        (ENTRY_BYTES + value.len()) as u64
    }
}

impl Weighter<u64, Arc<Block>> for ByBytes {
    fn weight(&self, _: &u64, block: &Arc<Block>) -> u64 {
        (ENTRY_BYTES + block.memory_bytes()) as u64
    }
}

impl Weighter<u64, Arc<Vec<Receipt>>> for ByBytes {
    fn weight(&self, _: &u64, receipts: &Arc<Vec<Receipt>>) -> u64 {
        (ENTRY_BYTES + receipts.iter().map(Receipt::memory_bytes).sum::<usize>()) as u64
    }
}
