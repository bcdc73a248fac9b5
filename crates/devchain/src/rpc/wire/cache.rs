//! Rendered blocks, kept within a bound of bytes: explorers and wallets ask for the newest ones again and again.

use alloy_primitives::B256;
use bytes::Bytes;
use quick_cache::{Weighter, sync::Cache};

use super::render_block;
use crate::block::Block;

/// What a block was rendered as.
type Key = (B256, bool);

#[derive(Clone)]
struct ByBytes;

impl Weighter<Key, Bytes> for ByBytes {
    fn weight(&self, _: &Key, json: &Bytes) -> u64 {
        json.len() as u64
    }
}

/// The cache of rendered blocks.
pub(crate) struct BlockCache(Cache<Key, Bytes, ByBytes>);

impl BlockCache {
    pub(crate) fn new(most_bytes: u64) -> Self {
        Self(Cache::with_weighter(64, most_bytes, ByBytes))
    }

    /// The block's JSON if it is at hand.
    pub(crate) fn get(&self, hash: B256, full: bool) -> Option<Bytes> {
        self.0.get(&(hash, full))
    }

    /// The block's JSON, rendered now if it is not at hand.
    pub(crate) fn render(&self, block: &Block, full: bool) -> Result<Bytes, serde_json::Error> {
        self.0.get_or_insert_with(&(block.hash, full), || render_block(block, full))
    }
}
