//! A validator's last turns, and those it missed.

use alloy_primitives::Address;

use super::{super::limit, parse_outcome, parse_round};
use crate::{Db, StoreError, convert::to_unsigned, index::TurnRow};

const LIST: &str = "SELECT t.block, t.round, t.outcome, b.timestamp \
     FROM (SELECT block, round, outcome FROM turns WHERE validator = $1 ORDER BY block DESC, round DESC LIMIT $2) t \
     JOIN blocks b ON b.number = t.block ORDER BY t.block DESC, t.round DESC";

// The outcome is spelled out, because only so SQLite sees that the partial index serves.
const MISSED: &str = "SELECT t.block, t.round, t.outcome, b.timestamp \
     FROM (SELECT block, round, outcome FROM turns WHERE validator = $1 AND outcome = 0 AND block < $2 \
     ORDER BY block DESC LIMIT $3) t JOIN blocks b ON b.number = t.block ORDER BY t.block DESC, t.round DESC";

/// A turn as it is stored: block, round, outcome, and the block's time.
type Row = (i64, i64, i16, i64);

impl Db {
    /// Turns that a validator missed in blocks before this one, newest first.
    pub async fn missed_turns(
        &self,
        validator: Address,
        before: Option<u64>,
        most: u32,
    ) -> Result<Vec<TurnRow>, StoreError> {
        let Some(account) = self.account_number(validator).await? else { return Ok(Vec::new()) };
        let before = before.and_then(|block| i64::try_from(block).ok()).unwrap_or(i64::MAX);
        let rows: Vec<Row> = on_readers!(self, pool => {
            sqlx::query_as(MISSED).bind(account).bind(before).bind(limit(most)).fetch_all(pool).await
        })?;
        rows.into_iter().map(turn).collect()
    }

    /// A validator's last turns to propose, newest first.
    pub async fn recent_turns(&self, validator: Address, most: u32) -> Result<Vec<TurnRow>, StoreError> {
        let Some(account) = self.account_number(validator).await? else { return Ok(Vec::new()) };
        let rows: Vec<Row> = on_readers!(self, pool => {
            sqlx::query_as(LIST).bind(account).bind(limit(most)).fetch_all(pool).await
        })?;
        rows.into_iter().map(turn).collect()
    }
}

fn turn((block, round, outcome, timestamp): Row) -> Result<TurnRow, StoreError> {
    Ok(TurnRow {
        block_number: to_unsigned("turn", block)?,
        timestamp: to_unsigned("timestamp", timestamp)?,
        round: parse_round(round)?,
        outcome: parse_outcome(outcome)?,
    })
}
