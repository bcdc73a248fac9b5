//! The cursor, and who may move it.

use alloy_primitives::{Address, B256};

use super::{NewBlock, account::Accounts, fee, insert, sums};
use crate::{
    Db, StoreError,
    convert::{parse_address, parse_hash, to_signed, to_unsigned},
    db::Tx,
    index::IndexHead,
};

/// Tables of the index beside the cursor.
const TABLES: [&str; 10] = [
    "DELETE FROM accounts",
    "DELETE FROM blocks",
    "DELETE FROM transactions",
    "DELETE FROM account_transactions",
    "DELETE FROM validator_sets",
    "DELETE FROM turns",
    "DELETE FROM validator_activity",
    "DELETE FROM votes",
    "DELETE FROM contract_events",
    "DELETE FROM fee_sums",
];
/// Number of the block before genesis.
const NOTHING: i64 = -1;

/// Which chain an index is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChainIdentity {
    /// The EIP-155 chain id.
    pub chain_id: u64,
    /// Hash of block 0.
    pub genesis_hash: B256,
}

/// Why an index cannot be written to.
#[derive(Debug, thiserror::Error)]
pub enum WriterError {
    /// The index is of another chain.
    #[error(
        "the index is of chain {} with genesis {}, not of chain {} with genesis {}",
        .found.chain_id, .found.genesis_hash, .expected.chain_id, .expected.genesis_hash
    )]
    OtherChain {
        /// The chain of the index.
        found: ChainIdentity,
        /// The chain that was to be indexed.
        expected: ChainIdentity,
    },
    /// The database failed.
    #[error("the index cannot be opened")]
    Store(#[from] StoreError),
}

/// What became of blocks that were to be appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// They are in the index.
    Written,
    /// Another writer has moved the cursor; nothing was written.
    Overtaken,
}

/// Appends blocks to the index. Several may exist, in several processes; of two that append after the same block one
/// wins and the other is told.
pub struct IndexWriter {
    db: Db,
    chain: ChainIdentity,
    cursor: Cursor,
    accounts: Accounts,
    /// The validator set of the last block.
    set: Vec<Address>,
    /// False after a failure: whether the last transaction was committed is not known.
    is_current: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Cursor {
    generation: i64,
    number: i64,
    hash: B256,
    timestamp: i64,
    accounts: i64,
}

impl IndexWriter {
    /// Opens the index of `chain`, which becomes the index's chain if it has none yet.
    pub async fn open(db: Db, chain: ChainIdentity) -> Result<Self, WriterError> {
        let mut tx = db.begin().await?;
        create_cursor(&mut tx, chain).await?;
        tx.commit().await?;
        let (found, cursor) = read_cursor(&db).await?;
        if found != chain {
            return Err(WriterError::OtherChain { found, expected: chain });
        }
        let set = read_set(&db).await?;
        Ok(Self { db, chain, cursor, accounts: Accounts::default(), set, is_current: true })
    }

    /// The last block this writer knows to be in the index.
    pub fn head(&self) -> Option<IndexHead> {
        let number = u64::try_from(self.cursor.number).ok()?;
        Some(IndexHead { number, hash: self.cursor.hash, timestamp: self.cursor.timestamp.cast_unsigned() })
    }

    /// Number of the block that comes next.
    pub fn next_number(&self) -> u64 {
        (self.cursor.number + 1).cast_unsigned()
    }

    /// The hash that the next block must name as its parent's: zeros before genesis.
    pub fn next_parent(&self) -> B256 {
        self.cursor.hash
    }

    /// Appends consecutive blocks that follow the head, all or none.
    ///
    /// After an error it is not known whether they are in the index; [`IndexWriter::refresh`] finds out.
    pub async fn append(&mut self, blocks: &[NewBlock]) -> Result<Appended, StoreError> {
        let Some(last) = blocks.last() else { return Ok(Appended::Written) };
        if !self.is_current {
            self.refresh().await?;
        }
        self.is_current = false;
        let mut tx = self.db.begin().await?;
        let mut cursor = Cursor {
            number: to_signed("block number", last.number)?,
            hash: last.hash,
            timestamp: to_signed("timestamp", last.timestamp)?,
            ..self.cursor.clone()
        };
        if !move_cursor(&mut tx, &self.cursor, &cursor).await? {
            return Ok(Appended::Overtaken);
        }
        let named = self.accounts.name(&mut tx, blocks, cursor.accounts).await?;
        insert::insert(&mut tx, blocks, &named, &self.set).await?;
        sums::add(&mut tx, blocks, &named).await?;
        fee::add(&mut tx, blocks).await?;
        if named.fresh_count() > 0 {
            cursor.accounts += named.fresh_count();
            count_accounts(&mut tx, cursor.accounts).await?;
        }
        tx.commit().await?;
        self.accounts.remember(named);
        self.set.clone_from(&last.validators);
        self.cursor = cursor;
        self.is_current = true;
        Ok(Appended::Written)
    }

    /// Reads where the index is now, after a failure or another writer's doing.
    pub async fn refresh(&mut self) -> Result<(), StoreError> {
        let (_, cursor) = read_cursor(&self.db).await?;
        self.set = read_set(&self.db).await?;
        // Another writer may have dropped the index in between; numbers of accounts are only as good as the cursor.
        self.accounts = Accounts::default();
        self.cursor = cursor;
        self.is_current = true;
        Ok(())
    }

    /// Drops the index, to be built again. [`Appended::Overtaken`] if another writer has moved the cursor meanwhile.
    pub async fn reset(&mut self) -> Result<Appended, StoreError> {
        self.is_current = false;
        let mut tx = self.db.begin().await?;
        let empty = Cursor {
            generation: self.cursor.generation + 1,
            number: NOTHING,
            hash: B256::ZERO,
            timestamp: 0,
            accounts: 0,
        };
        if !move_cursor(&mut tx, &self.cursor, &empty).await? {
            return Ok(Appended::Overtaken);
        }
        count_accounts(&mut tx, 0).await?;
        for statement in TABLES {
            on_connection!(tx, c => sqlx::query(statement).execute(&mut *c).await.map(drop))?;
        }
        tx.commit().await?;
        self.refresh().await?;
        Ok(Appended::Written)
    }

    /// The chain this index is of.
    pub fn chain(&self) -> ChainIdentity {
        self.chain
    }
}

async fn create_cursor(tx: &mut Tx, chain: ChainIdentity) -> Result<(), StoreError> {
    let statement = "INSERT INTO index_cursor (id, chain_id, genesis_hash, generation, number, hash, timestamp, accounts) \
                     VALUES (1, $1, $2, 0, $3, $4, 0, 0) ON CONFLICT (id) DO NOTHING";
    on_connection!(tx, c => {
        sqlx::query(statement)
            .bind(chain.chain_id.cast_signed())
            .bind(chain.genesis_hash.to_vec())
            .bind(NOTHING)
            .bind(B256::ZERO.to_vec())
            .execute(&mut *c)
            .await
            .map(drop)
    })?;
    Ok(())
}

/// Moves the cursor if it is where `from` says; whoever does this first keeps others waiting until it commits.
async fn move_cursor(tx: &mut Tx, from: &Cursor, to: &Cursor) -> Result<bool, StoreError> {
    let statement = "UPDATE index_cursor SET generation = $1, number = $2, hash = $3, timestamp = $4 \
                     WHERE id = 1 AND generation = $5 AND number = $6 AND hash = $7";
    let moved = on_connection!(tx, c => {
        sqlx::query(statement)
            .bind(to.generation)
            .bind(to.number)
            .bind(to.hash.to_vec())
            .bind(to.timestamp)
            .bind(from.generation)
            .bind(from.number)
            .bind(from.hash.to_vec())
            .execute(&mut *c)
            .await?
            .rows_affected()
    });
    Ok(moved == 1)
}

async fn count_accounts(tx: &mut Tx, accounts: i64) -> Result<(), StoreError> {
    let statement = "UPDATE index_cursor SET accounts = $1 WHERE id = 1";
    on_connection!(tx, c => sqlx::query(statement).bind(accounts).execute(&mut *c).await.map(drop))?;
    Ok(())
}

#[derive(sqlx::FromRow)]
struct CursorRow {
    chain_id: i64,
    genesis_hash: Vec<u8>,
    generation: i64,
    number: i64,
    hash: Vec<u8>,
    timestamp: i64,
    accounts: i64,
}

async fn read_cursor(db: &Db) -> Result<(ChainIdentity, Cursor), StoreError> {
    let statement = "SELECT chain_id, genesis_hash, generation, number, hash, timestamp, accounts FROM index_cursor WHERE id = 1";
    // From the connection that writes: it sees what it has just committed.
    let row: CursorRow = on_writer!(db, pool => sqlx::query_as(statement).fetch_one(pool).await)?;
    let chain_id = row.chain_id.cast_unsigned();
    let genesis_hash = parse_hash("genesis hash", &row.genesis_hash)?;
    let cursor = Cursor {
        generation: row.generation,
        number: row.number,
        hash: parse_hash("cursor", &row.hash)?,
        timestamp: row.timestamp,
        accounts: row.accounts,
    };
    to_unsigned("cursor", cursor.number + 1)?;
    Ok((ChainIdentity { chain_id, genesis_hash }, cursor))
}

/// The validator set of the last block.
async fn read_set(db: &Db) -> Result<Vec<Address>, StoreError> {
    let statement = "SELECT members FROM validator_sets ORDER BY first_block DESC LIMIT 1";
    let members: Option<Vec<u8>> =
        on_writer!(db, pool => sqlx::query_scalar(statement).fetch_optional(pool).await)?;
    members.unwrap_or_default().chunks(20).map(|member| parse_address("validator set", member)).collect()
}
