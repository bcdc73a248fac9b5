//! How far payments are credited, and which blocks of the index come next.

use alloy_primitives::B256;
use sqlx::FromRow;

use crate::{
    Db, StoreError,
    convert::{parse_hash, to_signed, to_unsigned},
    db::Tx,
};

/// A block up to which everything is credited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreditPoint {
    /// Its number.
    pub number: u64,
    /// Its hash.
    pub hash: B256,
    /// Its time, in Unix milliseconds.
    pub time: u64,
}

/// The index as crediting follows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IndexPoint {
    /// Grows when the index is dropped: what was read of it before may be gone.
    pub generation: i64,
    /// Its last block; none while it is empty.
    pub number: Option<u64>,
}

#[derive(FromRow)]
struct RawPoint {
    number: i64,
    hash: Vec<u8>,
    time: i64,
}

impl RawPoint {
    /// None for the number that stands before the first block.
    fn read(self) -> Result<Option<CreditPoint>, StoreError> {
        let Ok(number) = u64::try_from(self.number) else { return Ok(None) };
        let hash = parse_hash("hash of a block", &self.hash)?;
        Ok(Some(CreditPoint { number, hash, time: to_unsigned("time of a block", self.time)? }))
    }
}

impl Db {
    /// The last block whose payments are credited; none before the first.
    pub async fn credit_point(&self) -> Result<Option<CreditPoint>, StoreError> {
        let sql = "SELECT block_number AS number, block_hash AS hash, block_time AS time FROM portal_cursor \
                   WHERE id = 1";
        let raw: RawPoint = on_readers!(self, pool => sqlx::query_as(sql).fetch_one(pool).await)?;
        raw.read()
    }

    /// Where the index is; none if nobody has begun one.
    pub async fn index_point(&self) -> Result<Option<IndexPoint>, StoreError> {
        let sql = "SELECT generation, number FROM index_cursor WHERE id = 1";
        let row: Option<(i64, i64)> =
            on_readers!(self, pool => sqlx::query_as(sql).fetch_optional(pool).await)?;
        Ok(row.map(|(generation, number)| IndexPoint { generation, number: u64::try_from(number).ok() }))
    }

    /// A block of the index as a point to credit up to.
    pub async fn indexed_block(&self, number: u64) -> Result<Option<CreditPoint>, StoreError> {
        let sql = "SELECT number, hash, timestamp * 1000 AS time FROM blocks WHERE number = $1";
        let number = to_signed("block number", number)?;
        let raw: Option<RawPoint> =
            on_readers!(self, pool => sqlx::query_as(sql).bind(number).fetch_optional(pool).await)?;
        Ok(raw.map(RawPoint::read).transpose()?.flatten())
    }

    /// Starts crediting again before the first block, if the cursor is still where it was seen. For chains that take
    /// blocks back: payments that are there are not credited twice.
    pub async fn rewind_credit(&self, from: CreditPoint) -> Result<bool, StoreError> {
        let sql = "UPDATE portal_cursor SET block_number = -1, block_time = 0 \
                   WHERE id = 1 AND block_number = $1 AND block_hash = $2";
        let number = to_signed("block number", from.number)?;
        let moved = on_writer!(self, pool => {
            sqlx::query(sql).bind(number).bind(from.hash.as_slice()).execute(pool).await?.rows_affected()
        });
        Ok(moved == 1)
    }
}

/// Moves the cursor if it is where `from` says. Rivals wait here until the transaction is committed.
pub(super) async fn move_cursor(
    tx: &mut Tx,
    from: Option<CreditPoint>,
    to: CreditPoint,
) -> Result<bool, StoreError> {
    // Before the first block there is no hash to compare.
    let sql = "UPDATE portal_cursor SET block_number = $1, block_hash = $2, block_time = $3 \
               WHERE id = 1 AND block_number = $4 AND ($4 = -1 OR block_hash = $5)";
    let from_number = from.map_or(Ok(-1), |from| to_signed("block number", from.number))?;
    let from_hash = from.map_or(B256::ZERO, |from| from.hash);
    let (number, time) = (to_signed("block number", to.number)?, to_signed("time", to.time)?);
    let moved = on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(number)
            .bind(to.hash.as_slice())
            .bind(time)
            .bind(from_number)
            .bind(from_hash.as_slice())
            .execute(connection)
            .await?
            .rows_affected()
    });
    Ok(moved == 1)
}

/// Whether the index has not been dropped since it was read.
pub(super) async fn is_of_generation(tx: &mut Tx, generation: i64) -> Result<bool, StoreError> {
    let sql = "SELECT generation FROM index_cursor WHERE id = 1";
    let now: Option<i64> =
        on_connection!(tx, connection => sqlx::query_scalar(sql).fetch_optional(connection).await)?;
    Ok(now == Some(generation))
}
