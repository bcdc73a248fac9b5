//! A validator's last turns.

use alloy_primitives::Address;

use super::{super::limit, parse_outcome, parse_round};
use crate::{Db, StoreError, convert::to_unsigned, index::TurnRow};

const LIST: &str = "SELECT t.block, t.round, t.outcome, b.timestamp \
     FROM (SELECT block, round, outcome FROM turns WHERE validator = $1 ORDER BY block DESC, round DESC LIMIT $2) t \
     JOIN blocks b ON b.number = t.block ORDER BY t.block DESC, t.round DESC";

impl Db {
    /// A validator's last turns to propose, newest first.
    pub async fn recent_turns(&self, validator: Address, most: u32) -> Result<Vec<TurnRow>, StoreError> {
        let Some(account) = self.account_number(validator).await? else { return Ok(Vec::new()) };
        let rows: Vec<(i64, i64, i16, i64)> = on_readers!(self, pool => {
            sqlx::query_as(LIST).bind(account).bind(limit(most)).fetch_all(pool).await
        })?;
        rows.into_iter()
            .map(|(block, round, outcome, timestamp)| {
                Ok(TurnRow {
                    block_number: to_unsigned("turn", block)?,
                    timestamp: to_unsigned("timestamp", timestamp)?,
                    round: parse_round(round)?,
                    outcome: parse_outcome(outcome)?,
                })
            })
            .collect()
    }
}
