//! What validators did in a range of blocks.

use std::collections::BTreeMap;

use alloy_primitives::Address;

use crate::{
    Db, StoreError,
    convert::{parse_address, to_signed, to_unsigned},
};

const PROPOSED: &str = "SELECT a.address, w.count FROM (SELECT proposer, COUNT(*) AS count FROM blocks \
     WHERE number >= $1 AND number <= $2 GROUP BY proposer) w JOIN accounts a ON a.id = w.proposer";

// Unclear turns, outcome 2, count for nothing.
const TURNS: &str = "SELECT a.address, w.kept, w.missed FROM (SELECT validator, \
     CAST(SUM(CASE WHEN outcome = 1 THEN 1 ELSE 0 END) AS BIGINT) AS kept, \
     CAST(SUM(CASE WHEN outcome = 0 THEN 1 ELSE 0 END) AS BIGINT) AS missed FROM turns \
     WHERE validator IN (SELECT DISTINCT validator FROM validator_activity WHERE span = 0) \
     AND block >= $1 AND block <= $2 GROUP BY validator) w JOIN accounts a ON a.id = w.validator";

/// What a validator did in a range of blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ValidatorWork {
    /// Blocks it built.
    pub proposed: u64,
    /// Turns it kept.
    pub kept: u64,
    /// Turns it missed.
    pub missed: u64,
}

impl Db {
    /// What every validator did from a block to another, both included, by the address its node seals with.
    pub async fn work_between(
        &self,
        from: u64,
        to: u64,
    ) -> Result<BTreeMap<Address, ValidatorWork>, StoreError> {
        let (from, to) = (to_signed("block", from)?, to_signed("block", to)?);
        let proposed: Vec<(Vec<u8>, i64)> = on_readers!(self, pool => {
            sqlx::query_as(PROPOSED).bind(from).bind(to).fetch_all(pool).await
        })?;
        let turns: Vec<(Vec<u8>, i64, i64)> = on_readers!(self, pool => {
            sqlx::query_as(TURNS).bind(from).bind(to).fetch_all(pool).await
        })?;
        let count = |number| to_unsigned("work of a validator", number);
        let mut work = BTreeMap::<Address, ValidatorWork>::new();
        for (validator, blocks) in proposed {
            work.entry(parse_address("validator", &validator)?).or_default().proposed = count(blocks)?;
        }
        for (validator, kept, missed) in turns {
            let entry = work.entry(parse_address("validator", &validator)?).or_default();
            (entry.kept, entry.missed) = (count(kept)?, count(missed)?);
        }
        Ok(work)
    }
}
