//! Moving the head: one atomic, durable batch for every block added or dropped.

use std::sync::Arc;

use alloy_primitives::B256;
use fjall::{AbstractTree, Keyspace, OwnedWriteBatch, PersistMode};

use super::{BlockCommit, Store, StoreError, TxLocation, codec, key, layout};
use crate::block::Block;

/// Bytes of a table in memory that is written out.
const LARGE_TABLE: u64 = 4 * 1024 * 1024;

impl Store {
    /// Adds the block after the head, or the genesis block to an empty store. It is on disk when this returns; if
    /// the process dies before, it is as if the call had not been made.
    pub fn commit(&self, commit: &BlockCommit<'_>) -> Result<(), StoreError> {
        let inner = &*self.0;
        let _writing = inner.writing.lock();
        let number = commit.block.number();
        let head = *inner.head.read();
        if number != head.map_or(0, |(head, _)| head + 1) {
            return Err(StoreError::OutOfOrder { head: head.map(|(head, _)| head), number });
        }
        let items = 5 + commit.block.transactions.len() + commit.nodes.len() + commit.code.len();
        let mut batch = self.batch(items);
        self.write_block(&mut batch, commit);
        for (hash, node) in commit.nodes {
            batch.insert(&inner.keyspaces.state, hash.0, node.as_ref());
        }
        for (hash, code) in commit.code {
            batch.insert(&inner.keyspaces.state, hash.0, code.as_ref());
        }
        self.finish(batch, (number, commit.block.hash))?;
        if head.is_none() {
            self.note_chain();
        }
        inner.caches.blocks.remove(&number);
        inner.caches.receipts.remove(&number);
        for hash in commit.replaced {
            inner.caches.nodes.remove(hash);
        }
        for (hash, node) in commit.nodes {
            inner.caches.nodes.insert(*hash, node.clone());
        }
        Ok(())
    }

    /// Remembers outside the database that it holds a block, so that an emptied one is not taken for a new one.
    pub(super) fn note_chain(&self) {
        if let Err(error) = layout::note_chain(&self.0.marker) {
            tracing::warn!(%error, "the marker of the data directory could not be written");
        }
    }

    /// Drops every block above `to`, so that the chain can go on from there. Development only: blocks are final.
    pub fn truncate(&self, to: u64) -> Result<(), StoreError> {
        let inner = &*self.0;
        let _writing = inner.writing.lock();
        let hash = self.hash_of(to)?.ok_or(StoreError::UnknownBlock(to))?;
        let head = inner.head.read().map_or(to, |(head, _)| head);
        let mut batch = self.batch(0);
        for number in to + 1..=head {
            let block = self.block(number)?.ok_or(StoreError::UnknownBlock(number))?;
            self.remove_block(&mut batch, &block);
        }
        self.finish(batch, (to, hash))?;
        for number in to + 1..=head {
            inner.caches.blocks.remove(&number);
            inner.caches.receipts.remove(&number);
        }
        Ok(())
    }

    fn batch(&self, items: usize) -> OwnedWriteBatch {
        let batch = OwnedWriteBatch::with_capacity(self.0.database.clone(), items);
        batch.durability(Some(PersistMode::SyncData))
    }

    fn write_block(&self, batch: &mut OwnedWriteBatch, commit: &BlockCommit<'_>) {
        let BlockCommit { block, receipts, .. } = commit;
        let chain = &self.0.keyspaces.chain;
        let number = block.number();
        batch.insert(chain, key::header(number), codec::encode_header(block));
        batch.insert(chain, key::body(number), codec::encode_body(&block.transactions));
        batch.insert(chain, key::receipts(number), codec::encode_receipts(receipts));
        batch.insert(chain, key::number(&block.hash), number.to_be_bytes());
        for (index, transaction) in (0..).zip(block.transactions.iter()) {
            let location = codec::encode_location(TxLocation { block: number, index });
            batch.insert(chain, key::location(transaction.tx_hash()), location);
        }
    }

    fn remove_block(&self, batch: &mut OwnedWriteBatch, block: &Arc<Block>) {
        let chain = &self.0.keyspaces.chain;
        let number = block.number();
        batch.remove(chain, key::header(number));
        batch.remove(chain, key::body(number));
        batch.remove(chain, key::receipts(number));
        batch.remove(chain, key::number(&block.hash));
        for transaction in block.transactions.iter() {
            batch.remove(chain, key::location(transaction.tx_hash()));
        }
    }

    fn finish(&self, mut batch: OwnedWriteBatch, head: (u64, B256)) -> Result<(), StoreError> {
        let keyspaces = &self.0.keyspaces;
        batch.insert(&keyspaces.chain, key::HEAD, codec::encode_head(head));
        for keyspace in [&keyspaces.chain, &keyspaces.state] {
            write_out_when_large(keyspace)?;
        }
        batch.commit()?;
        *self.0.head.write() = Some(head);
        Ok(())
    }
}

/// Lets the engine write a large table out of memory.
///
/// Left to itself the engine asks its worker for that with every commit until the worker has time. A long compaction and
/// many quick commits, as in an import, fill the worker's queue, and then the worker waits for room in it for ever.
fn write_out_when_large(keyspace: &Keyspace) -> fjall::Result<()> {
    if keyspace.tree.active_memtable().size() >= LARGE_TABLE {
        keyspace.rotate_memtable()?;
    }
    Ok(())
}
