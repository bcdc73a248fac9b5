//! Opening the store: the engine's settings and the check that the head block is whole.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
};

use alloy_primitives::B256;
use alloy_trie::EMPTY_ROOT_HASH;
use fjall::{
    CompressionType, Database, KeyspaceCreateOptions,
    compaction::Leveled,
    config::{
        BloomConstructionPolicy, CompressionPolicy, FilterPolicy, FilterPolicyEntry, PartitioningPolicy,
        PinningPolicy,
    },
};
use parking_lot::{Mutex, RwLock};

use super::{Caches, Damage, Inner, Journals, Keyspaces, Store, StoreError, codec, key, layout};

const MIB: u64 = 1024 * 1024;

impl Store {
    /// Opens the data directory, creating it if it is missing or empty. The head is the last block whose commit
    /// returned, or one that was being committed when the process died; it is whole either way.
    pub fn open(dir: &Path) -> Result<Self, StoreError> {
        let layout = layout::claim(dir)?;
        let damaged = |source| StoreError::Damaged {
            dir: dir.into(),
            source,
        };
        // The engine asserts much of what it expects of its files instead of returning errors.
        let opened = catch_unwind(AssertUnwindSafe(|| open_database(&layout.database)));
        let (database, keyspaces) =
            opened
                .map_err(|_| damaged(Damage::Abandoned))?
                .map_err(|error| match error {
                    fjall::Error::Locked => StoreError::InUse { dir: dir.into() },
                    fjall::Error::Io(source) => StoreError::Directory {
                        dir: dir.into(),
                        source,
                    },
                    error => damaged(Damage::Unrecoverable(error)),
                })?;
        let head = keyspaces
            .chain
            .get(key::HEAD)?
            .map(|record| codec::decode_head(&record))
            .transpose()?;
        let store = Self(Arc::new(Inner {
            keyspaces,
            database,
            journals: Journals::of(layout.database),
            caches: Caches::new(),
            head: RwLock::new(head),
            writing: Mutex::new(()),
            _lock: layout.lock,
        }));
        if let Some(head) = head {
            store.check_head(head, damaged)?;
        }
        Ok(store)
    }

    /// The engine takes a damaged end of its journal for an unfinished write, so a head block of which parts are
    /// missing is the sign that more than the last batch was lost.
    fn check_head(
        &self,
        (number, hash): (u64, B256),
        damaged: impl Fn(Damage) -> StoreError,
    ) -> Result<(), StoreError> {
        let missing = |part| damaged(Damage::Incomplete { part, number });
        let block = self.block(number)?.ok_or_else(|| missing("the body"))?;
        if block.hash != hash || self.number_of(hash)? != Some(number) {
            return Err(missing("the hash"));
        }
        self.receipts(number)?.ok_or_else(|| missing("a receipt"))?;
        for transaction in block.transactions.iter() {
            self.find_transaction(*transaction.tx_hash())?
                .ok_or_else(|| missing("a transaction's location"))?;
        }
        let root = block.header.state_root;
        if root != EMPTY_ROOT_HASH && self.read_node(root)?.is_none() {
            return Err(missing("the state"));
        }
        Ok(())
    }
}

fn open_database(path: &Path) -> fjall::Result<(Database, Keyspaces)> {
    // One worker flushes and compacts behind the chain; our own caches sit above the engine's.
    let database = Database::builder(path)
        .cache_size(4 * MIB)
        .worker_threads(1)
        .max_journaling_size(128 * MIB)
        .journal_compression(CompressionType::Lz4)
        .open()?;
    let chain = database.keyspace("chain", options)?;
    // Hashes do not compress.
    let plain = || options().data_block_compression_policy(CompressionPolicy::disabled());
    let state = database.keyspace("state", plain)?;
    Ok((database, Keyspaces { chain, state }))
}

/// Tuned for little memory and for point reads of random keys that are nearly always present.
fn options() -> KeyspaceCreateOptions {
    let bloom = |bits| FilterPolicyEntry::Bloom(BloomConstructionPolicy::BitsPerKey(bits));
    KeyspaceCreateOptions::default()
        .max_memtable_size(4 * MIB)
        .compaction_strategy(Arc::new(Leveled::default().with_table_target_size(32 * MIB)))
        .filter_policy(FilterPolicy::new([bloom(14.0), bloom(10.0)]))
        .expect_point_read_hits(true)
        .filter_block_pinning_policy(PinningPolicy::all(true))
        .index_block_pinning_policy(PinningPolicy::all(true))
        .filter_block_partitioning_policy(PartitioningPolicy::disabled())
        .index_block_partitioning_policy(PartitioningPolicy::disabled())
        .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
}
