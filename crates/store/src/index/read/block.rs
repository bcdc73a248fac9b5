//! Lists of blocks.

use alloy_primitives::B256;

use super::limit;
use crate::{
    Db, StoreError,
    convert::{parse_address, parse_hash, to_unsigned},
    index::BlockRow,
};

// The parent's hash is the hash of the block before; genesis has none there.
const LIST: &str = "SELECT b.number, b.hash, p.hash AS parent_hash, b.timestamp, a.address AS proposer, b.round, \
     b.transaction_count, b.gas_used, b.gas_limit, b.size \
     FROM (SELECT * FROM blocks WHERE number < $1 ORDER BY number DESC LIMIT $2) b \
     JOIN accounts a ON a.id = b.proposer LEFT JOIN blocks p ON p.number = b.number - 1 ORDER BY b.number DESC";

#[derive(sqlx::FromRow)]
struct Row {
    number: i64,
    hash: Vec<u8>,
    parent_hash: Option<Vec<u8>>,
    timestamp: i64,
    proposer: Vec<u8>,
    round: i64,
    transaction_count: i64,
    gas_used: i64,
    gas_limit: i64,
    size: i64,
}

impl Db {
    /// Blocks below `before`, newest first.
    pub async fn list_blocks(&self, before: Option<u64>, most: u32) -> Result<Vec<BlockRow>, StoreError> {
        let before = before.and_then(|number| i64::try_from(number).ok()).unwrap_or(i64::MAX);
        let rows: Vec<Row> = on_readers!(self, pool => {
            sqlx::query_as(LIST).bind(before).bind(limit(most)).fetch_all(pool).await
        })?;
        rows.into_iter().map(BlockRow::try_from).collect()
    }
}

impl TryFrom<Row> for BlockRow {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let small = |number| u32::try_from(number).map_err(|error| StoreError::corrupt("block", error));
        Ok(Self {
            number: to_unsigned("block number", row.number)?,
            hash: parse_hash("block hash", &row.hash)?,
            parent_hash: row.parent_hash.map_or(Ok(B256::ZERO), |hash| parse_hash("block hash", &hash))?,
            timestamp: to_unsigned("timestamp", row.timestamp)?,
            proposer: parse_address("proposer", &row.proposer)?,
            round: small(row.round)?,
            transaction_count: small(row.transaction_count)?,
            gas_used: row.gas_used.cast_unsigned(),
            gas_limit: row.gas_limit.cast_unsigned(),
            size: row.size.cast_unsigned(),
        })
    }
}
