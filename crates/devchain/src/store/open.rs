//! Opening the store: the engine's settings and the check that the head block is whole.

use std::{
    io,
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
        let damaged = |source| StoreError::Damaged { dir: dir.into(), source };
        // The engine asserts much of what it expects of its files instead of returning errors.
        let opened = catch_unwind(AssertUnwindSafe(|| open_database(&layout.database)));
        let opened = opened.map_err(|_| damaged(Damage::Abandoned))?;
        let (database, keyspaces) = opened.map_err(|error| match error {
            fjall::Error::Locked => StoreError::InUse { dir: dir.into() },
            fjall::Error::Io(source) if is_refusal(&source) => {
                StoreError::Directory { dir: dir.into(), source }
            }
            error => damaged(Damage::Unrecoverable(error)),
        })?;
        let store = Self(Arc::new(Inner {
            keyspaces,
            database,
            journals: Journals::of(layout.database),
            caches: Caches::new(),
            head: RwLock::new(None),
            writing: Mutex::new(()),
            marker: layout.marker,
        }));
        let head = store.read_head().map_err(damaged)?;
        match (head, layout.holds_chain) {
            (None, true) => return Err(damaged(Damage::Emptied)),
            (Some(_), false) => store.note_chain(),
            (None, false) | (Some(_), true) => {}
        }
        *store.0.head.write() = head;
        Ok(store)
    }

    /// Reads the head and checks that its block is whole. The engine takes a damaged end of its journal for an
    /// unfinished write, so a missing part is the sign that more than the last batch was lost.
    fn read_head(&self) -> Result<Option<(u64, B256)>, Damage> {
        let record = self.0.keyspaces.chain.get(key::HEAD).map_err(Damage::Unrecoverable)?;
        let Some(record) = record else {
            return Ok(None);
        };
        let (number, hash) = codec::decode_head(&record)?;
        let missing = |part| Damage::Incomplete { part, number };
        let block = self.block(number)?.ok_or(missing("the body"))?;
        if block.hash != hash || self.number_of(hash)? != Some(number) {
            return Err(missing("the hash"));
        }
        self.receipts(number)?.ok_or(missing("a receipt"))?;
        for transaction in block.transactions.iter() {
            let location = self.find_transaction(*transaction.tx_hash())?;
            location.ok_or(missing("a transaction's location"))?;
        }
        let root = block.header.state_root;
        if root != EMPTY_ROOT_HASH && self.read_node(root)?.is_none() {
            return Err(missing("the state"));
        }
        Ok(Some((number, hash)))
    }
}

/// Whether the system refused the access, as opposed to the files being wrong.
fn is_refusal(error: &io::Error) -> bool {
    use io::ErrorKind::{PermissionDenied, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), PermissionDenied | ReadOnlyFilesystem | StorageFull)
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
        // Never reached: `commit` starts the writing out, see there.
        .max_memtable_size(64 * MIB)
        .compaction_strategy(Arc::new(Leveled::default().with_table_target_size(32 * MIB)))
        .filter_policy(FilterPolicy::new([bloom(14.0), bloom(10.0)]))
        .expect_point_read_hits(true)
        .filter_block_pinning_policy(PinningPolicy::all(true))
        .index_block_pinning_policy(PinningPolicy::all(true))
        .filter_block_partitioning_policy(PartitioningPolicy::disabled())
        .index_block_partitioning_policy(PartitioningPolicy::disabled())
        .data_block_compression_policy(CompressionPolicy::all(CompressionType::Lz4))
}
