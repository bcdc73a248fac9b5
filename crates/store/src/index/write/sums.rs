//! Adding up what validators did, per hour, per day and for ever.

use std::collections::BTreeMap;

use alloy_primitives::Address;

use super::{NewBlock, account::Named};
use crate::{
    StoreError,
    bulk::Bulk,
    db::Tx,
    index::{ActivitySums, TurnOutcome},
};

/// Seconds of the spans that are summed up; 0 is for ever.
pub(in crate::index) const HOUR: u64 = 3_600;
pub(in crate::index) const DAY: u64 = 86_400;
pub(in crate::index) const EVER: u64 = 0;

static ACTIVITY: Bulk = Bulk::new(
    "validator_activity",
    &[
        "span",
        "start",
        "validator",
        "proposed",
        "kept",
        "missed",
        "unclear",
        "sealed",
        "blocks",
        "first_block",
        "last_proposed",
        "last_sealed",
    ],
    " ON CONFLICT (span, start, validator) DO UPDATE SET \
     proposed = validator_activity.proposed + excluded.proposed, \
     kept = validator_activity.kept + excluded.kept, \
     missed = validator_activity.missed + excluded.missed, \
     unclear = validator_activity.unclear + excluded.unclear, \
     sealed = validator_activity.sealed + excluded.sealed, \
     blocks = validator_activity.blocks + excluded.blocks, \
     last_proposed = COALESCE(excluded.last_proposed, validator_activity.last_proposed), \
     last_sealed = COALESCE(excluded.last_sealed, validator_activity.last_sealed)",
);

/// What a validator did in a span of time, of which some blocks are new.
struct Doings {
    sums: ActivitySums,
    first_block: u64,
    last_proposed: Option<u64>,
    last_sealed: Option<u64>,
}

/// The start of the span that a time falls into.
pub(in crate::index) fn start_of(span: u64, timestamp: u64) -> u64 {
    timestamp.checked_rem(span).map_or(0, |rest| timestamp - rest)
}

type Key = (u64, u64, i64);

/// Adds the blocks to the sums of their validators.
pub(super) async fn add(tx: &mut Tx, blocks: &[NewBlock], named: &Named) -> Result<(), StoreError> {
    let mut doings = BTreeMap::<Key, Doings>::new();
    // Nobody proposed or sealed genesis.
    for block in blocks.iter().filter(|block| block.number > 0) {
        for span in [EVER, HOUR, DAY] {
            let start = start_of(span, block.timestamp);
            let key = |validator: Address| (span, start, named.number(validator));
            count(&mut doings, block, key);
        }
    }
    let rows: Vec<_> = doings.into_iter().collect();
    on_connection!(tx, c => ACTIVITY.insert(c, &rows, |query, ((span, start, validator), doings)| {
        let sums = &doings.sums;
        query
            .bind(span.cast_signed())
            .bind(start.cast_signed())
            .bind(*validator)
            .bind(sums.proposed.cast_signed())
            .bind(sums.kept.cast_signed())
            .bind(sums.missed.cast_signed())
            .bind(sums.unclear.cast_signed())
            .bind(sums.sealed.cast_signed())
            .bind(sums.blocks.cast_signed())
            .bind(doings.first_block.cast_signed())
            .bind(doings.last_proposed.map(u64::cast_signed))
            .bind(doings.last_sealed.map(u64::cast_signed))
    }).await)
}

fn count(doings: &mut BTreeMap<Key, Doings>, block: &NewBlock, key: impl Fn(Address) -> Key) {
    let mut of = |validator: Address, change: &dyn Fn(&mut Doings)| {
        let fresh = || Doings {
            sums: ActivitySums::default(),
            first_block: block.number,
            last_proposed: None,
            last_sealed: None,
        };
        change(doings.entry(key(validator)).or_insert_with(fresh));
    };
    for &validator in &block.validators {
        of(validator, &|doings| doings.sums.blocks += 1);
    }
    for &sealer in &block.sealers {
        of(sealer, &|doings| {
            doings.sums.sealed += 1;
            doings.last_sealed = Some(block.number);
        });
    }
    for turn in &block.turns {
        of(turn.validator, &|doings| match turn.outcome {
            TurnOutcome::Kept => doings.sums.kept += 1,
            TurnOutcome::Missed => doings.sums.missed += 1,
            TurnOutcome::Unclear => doings.sums.unclear += 1,
        });
    }
    // A header that names no turn is not of this consensus, and its coinbase need not be a validator.
    if !block.turns.is_empty() {
        of(block.proposer, &|doings| {
            doings.sums.proposed += 1;
            doings.last_proposed = Some(block.number);
        });
    }
}
