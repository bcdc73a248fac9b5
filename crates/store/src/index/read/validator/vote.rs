//! Votes in headers, and the set in force.

use alloy_primitives::Address;

use super::parse_set;
use crate::{
    Db, StoreError,
    convert::{parse_address, to_unsigned},
    index::VoteRow,
};

const SINCE: &str = "SELECT v.block, b.timestamp, p.address AS voter, r.address AS recipient, v.adds FROM votes v \
     JOIN blocks b ON b.number = v.block JOIN accounts p ON p.id = v.voter JOIN accounts r ON r.id = v.recipient \
     WHERE v.block >= $1 ORDER BY v.block";

const SET: &str =
    "SELECT members FROM validator_sets WHERE first_block <= $1 ORDER BY first_block DESC LIMIT 1";

type Row = (i64, i64, Vec<u8>, Vec<u8>, bool);

impl Db {
    /// The votes in headers from a block on, oldest first: an epoch's, when asked from its first block. A vote in an
    /// epoch's first block is listed, but does not count.
    pub async fn votes_since(&self, block: u64) -> Result<Vec<VoteRow>, StoreError> {
        let since = i64::try_from(block).unwrap_or(i64::MAX);
        let rows: Vec<Row> =
            on_readers!(self, pool => sqlx::query_as(SINCE).bind(since).fetch_all(pool).await)?;
        rows.into_iter()
            .map(|(block, timestamp, voter, recipient, adds)| {
                Ok(VoteRow {
                    block_number: to_unsigned("vote", block)?,
                    timestamp: to_unsigned("timestamp", timestamp)?,
                    voter: parse_address("voter", &voter)?,
                    recipient: parse_address("vote", &recipient)?,
                    adds,
                })
            })
            .collect()
    }

    /// The validator set in force for a block, ascending; empty if the index does not reach so far back.
    pub async fn validator_set_at(&self, block: u64) -> Result<Vec<Address>, StoreError> {
        let block = i64::try_from(block).unwrap_or(i64::MAX);
        let members: Option<Vec<u8>> =
            on_readers!(self, pool => sqlx::query_scalar(SET).bind(block).fetch_optional(pool).await)?;
        parse_set(&members.unwrap_or_default())
    }
}
