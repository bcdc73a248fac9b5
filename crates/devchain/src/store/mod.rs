//! The chain on disk: blocks, receipts, indexes, trie nodes and code, written as one durable batch per block.
//!
//! The store knows nothing of consensus or execution: it keeps what it is given and answers by number or hash.
//! Trie nodes and code are kept by hash and never deleted, so every block's state stays readable.

use std::{collections::BTreeMap, fs::File, ops::RangeInclusive, sync::Arc};

use alloy_consensus::Header;
use alloy_primitives::{B256, Bytes};
use fjall::{Database, Keyspace};
use parking_lot::{Mutex, RwLock};

use crate::{
    block::{Block, Receipt},
    state::{NodeSource, StateError},
};

mod cache;
mod close;
mod codec;
mod commit;
#[cfg(test)]
mod crash_tests;
mod error;
mod key;
mod layout;
mod open;
#[cfg(test)]
mod tests;

use cache::Caches;
use close::Journals;
pub use error::{Damage, StoreError};

/// A handle to the chain on disk. Cheap to clone; the last one to go closes the database.
#[derive(Clone)]
pub struct Store(Arc<Inner>);

/// Dropped in the order of the fields: the journals after the engine, the lock after everything.
struct Inner {
    keyspaces: Keyspaces,
    database: Database,
    journals: Journals,
    caches: Caches,
    head: RwLock<Option<(u64, B256)>>,
    /// Held while the head moves.
    writing: Mutex<()>,
    /// The marker file, locked while the store is open.
    marker: File,
}

/// Few, because creating one costs a dozen file syncs.
struct Keyspaces {
    /// Blocks, receipts, indexes and the head, see [`key`].
    chain: Keyspace,
    /// Trie nodes and contract code by hash.
    state: Keyspace,
}

/// Everything that a block adds to the store.
#[derive(Debug, Clone, Copy)]
pub struct BlockCommit<'a> {
    /// The sealed block.
    pub block: &'a Block,
    /// Its receipts, one per transaction.
    pub receipts: &'a [Receipt],
    /// The trie nodes that it made, see [`crate::state::StateUpdate`].
    pub nodes: &'a [(B256, Bytes)],
    /// The nodes that it left behind; they are kept, but leave the cache.
    pub replaced: &'a [B256],
    /// The code that it deployed, by hash.
    pub code: &'a BTreeMap<B256, Bytes>,
}

/// Where a transaction was mined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TxLocation {
    /// Number of the block.
    pub block: u64,
    /// Position in the block.
    pub index: u32,
}

impl Store {
    /// Number and hash of the last committed block; `None` in a fresh directory.
    pub fn head(&self) -> Result<Option<(u64, B256)>, StoreError> {
        Ok(*self.0.head.read())
    }

    /// The header at this height.
    pub fn header(&self, number: u64) -> Result<Option<Header>, StoreError> {
        let record = self.0.keyspaces.chain.get(key::header(number))?;
        record.map(|record| codec::decode_header(number, &record).map(|(_, header)| header)).transpose()
    }

    /// The headers of a range of heights that exist, in order.
    pub fn headers(
        &self,
        range: RangeInclusive<u64>,
    ) -> impl Iterator<Item = Result<Header, StoreError>> + use<> {
        let keys = key::header(*range.start())..=key::header(*range.end());
        let records = self.0.keyspaces.chain.range(keys);
        range.zip(records).map(|(number, record)| Ok(codec::decode_header(number, &record.value()?)?.1))
    }

    /// The block at this height.
    pub fn block(&self, number: u64) -> Result<Option<Arc<Block>>, StoreError> {
        if let Some(block) = self.0.caches.blocks.get(&number) {
            return Ok(Some(block));
        }
        let chain = &self.0.keyspaces.chain;
        let Some(header) = chain.get(key::header(number))? else {
            return Ok(None);
        };
        let Some(body) = chain.get(key::body(number))? else {
            return Ok(None);
        };
        let (hash, header) = codec::decode_header(number, &header)?;
        let transactions = Arc::new(codec::decode_body(number, &body)?);
        let block = Arc::new(Block { header, hash, transactions });
        self.0.caches.blocks.insert(number, Arc::clone(&block));
        Ok(Some(block))
    }

    /// The receipts of the block at this height.
    pub fn receipts(&self, number: u64) -> Result<Option<Arc<Vec<Receipt>>>, StoreError> {
        if let Some(receipts) = self.0.caches.receipts.get(&number) {
            return Ok(Some(receipts));
        }
        let Some(record) = self.0.keyspaces.chain.get(key::receipts(number))? else {
            return Ok(None);
        };
        let receipts = Arc::new(codec::decode_receipts(number, &record)?);
        self.0.caches.receipts.insert(number, Arc::clone(&receipts));
        Ok(Some(receipts))
    }

    /// The height of the block with this hash.
    pub fn number_of(&self, hash: B256) -> Result<Option<u64>, StoreError> {
        let record = self.0.keyspaces.chain.get(key::number(&hash))?;
        record.map(|record| codec::decode_number("block numbers", &record)).transpose()
    }

    /// The hash of the block at this height.
    pub fn hash_of(&self, number: u64) -> Result<Option<B256>, StoreError> {
        let record = self.0.keyspaces.chain.get(key::header(number))?;
        record.map(|record| codec::decode_header_hash(number, &record)).transpose()
    }

    /// Where the transaction with this hash was mined.
    pub fn find_transaction(&self, hash: B256) -> Result<Option<TxLocation>, StoreError> {
        let record = self.0.keyspaces.chain.get(key::location(&hash))?;
        record.map(|record| codec::decode_location(&record)).transpose()
    }

    fn read_node(&self, hash: B256) -> Result<Option<Bytes>, StoreError> {
        read_through(&self.0.caches.nodes, &self.0.keyspaces.state, hash)
    }
}

impl NodeSource for Store {
    fn node(&self, hash: B256) -> Result<Bytes, StateError> {
        let node = self.read_node(hash).map_err(|error| StateError::Unreadable(Box::new(error)))?;
        node.ok_or(StateError::MissingNode(hash))
    }

    fn code(&self, hash: B256) -> Result<Bytes, StateError> {
        let code = read_through(&self.0.caches.code, &self.0.keyspaces.state, hash);
        code.map_err(|error| StateError::Unreadable(Box::new(error)))?.ok_or(StateError::MissingCode(hash))
    }
}

/// Reads by hash. The value is copied out, because the engine's slice would keep a whole data block alive.
fn read_through(
    cache: &cache::BytesCache,
    keyspace: &Keyspace,
    hash: B256,
) -> Result<Option<Bytes>, StoreError> {
    if let Some(bytes) = cache.get(&hash) {
        return Ok(Some(bytes));
    }
    let Some(record) = keyspace.get(hash)? else {
        return Ok(None);
    };
    let bytes = Bytes::copy_from_slice(&record);
    cache.insert(hash, bytes.clone());
    Ok(Some(bytes))
}
