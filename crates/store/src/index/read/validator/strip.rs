//! The last blocks, with who took part in each.

use std::collections::BTreeMap;

use alloy_primitives::Address;

use super::{super::limit, parse_outcome, parse_round, parse_set};
use crate::{
    Db, StoreError,
    convert::{parse_address, to_unsigned},
    index::{StripBlock, TurnOutcome},
};

const BLOCKS: &str = "SELECT b.number, b.timestamp, a.address AS proposer, b.round, b.seals, \
     (SELECT s.members FROM validator_sets s WHERE s.first_block <= b.number ORDER BY s.first_block DESC LIMIT 1) \
     AS members FROM (SELECT * FROM blocks ORDER BY number DESC LIMIT $1) b \
     JOIN accounts a ON a.id = b.proposer ORDER BY b.number DESC";

// Every validator's own turns, because that is the order of the table.
const TURNS: &str = "SELECT t.block, t.round, t.outcome, a.address AS validator FROM validator_activity v \
     JOIN turns t ON t.validator = v.validator AND t.block >= $1 AND t.outcome <> $2 \
     JOIN accounts a ON a.id = v.validator WHERE v.span = 0 AND v.start = 0 ORDER BY t.block, t.round";

#[derive(sqlx::FromRow)]
struct Row {
    number: i64,
    timestamp: i64,
    proposer: Vec<u8>,
    round: i64,
    seals: Vec<u8>,
    members: Option<Vec<u8>>,
}

/// A turn that was not kept.
type Lapse = (Address, TurnOutcome);

impl Db {
    /// The last blocks, newest first, with who was in the set, who sealed and who missed a turn.
    pub async fn recent_blocks_strip(&self, most: u32) -> Result<Vec<StripBlock>, StoreError> {
        let rows: Vec<Row> = on_readers!(self, pool => {
            sqlx::query_as(BLOCKS).bind(limit(most)).fetch_all(pool).await
        })?;
        let Some(oldest) = rows.last().map(|row| row.number) else { return Ok(Vec::new()) };
        let mut lapses = self.lapses_since(oldest).await?;
        rows.into_iter()
            .map(|row| strip_block(&row, lapses.remove(&row.number).unwrap_or_default()))
            .collect()
    }

    /// Turns that were not kept, by block, in the order of the rounds.
    async fn lapses_since(&self, block: i64) -> Result<BTreeMap<i64, Vec<Lapse>>, StoreError> {
        let rows: Vec<(i64, i64, i16, Vec<u8>)> = on_readers!(self, pool => {
            sqlx::query_as(TURNS).bind(block).bind(TurnOutcome::Kept.number()).fetch_all(pool).await
        })?;
        let mut lapses = BTreeMap::<i64, Vec<Lapse>>::new();
        for (block, _, outcome, validator) in rows {
            let lapse = (parse_address("validator", &validator)?, parse_outcome(outcome)?);
            lapses.entry(block).or_default().push(lapse);
        }
        Ok(lapses)
    }
}

fn strip_block(row: &Row, lapses: Vec<Lapse>) -> Result<StripBlock, StoreError> {
    let validators = parse_set(row.members.as_deref().unwrap_or_default())?;
    let has_sealed = |index: usize| row.seals.get(index / 8).is_some_and(|byte| byte >> (index % 8) & 1 == 1);
    let sealers =
        validators.iter().enumerate().filter(|&(index, _)| has_sealed(index)).map(|(_, &member)| member);
    let of = |wanted| {
        lapses.iter().filter(move |(_, outcome)| *outcome == wanted).map(|&(validator, _)| validator)
    };
    Ok(StripBlock {
        number: to_unsigned("block number", row.number)?,
        timestamp: to_unsigned("timestamp", row.timestamp)?,
        proposer: parse_address("proposer", &row.proposer)?,
        round: parse_round(row.round)?,
        sealers: sealers.collect(),
        missed: of(TurnOutcome::Missed).collect(),
        unclear: of(TurnOutcome::Unclear).collect(),
        validators,
    })
}
