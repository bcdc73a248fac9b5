//! Who is down: from the headers that the index has, never from a missing seal alone.
//!
//! A validator is down when it kept less than the least part of its turns in the window, missed its last turns in a row, and
//! neither sealed nor built any of the last blocks while it was in the set for all of them. The stretch of downtime is named by
//! the last sign of life before it, so that it is one offence however long it lasts.

use alloy_primitives::Address;
use store::{
    Db, StoreError,
    index::{
        ActivitySums, ContractEvent, EventFilter, EventKind, StripBlock, TurnOutcome, TurnRow,
        ValidatorActivity,
    },
};

use crate::settings::DowntimeRules;

/// Turns that are looked at; some may be unclear and count for nothing.
const TURNS: u32 = 32;
/// Slashes of one operator that are looked at, newest first.
const SLASHES: u32 = 8;
/// The registry's number of the reason.
const REASON: u8 = 1;

/// A stretch of downtime that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Downtime {
    pub(crate) node: Address,
    /// The last block that it built or sealed; where it came into the set, if it never did.
    pub(crate) last_sign: u64,
    pub(crate) missed_in_a_row: usize,
    /// Uptime in the window, in millionths.
    pub(crate) uptime_ppm: u64,
    /// The block that this is as of.
    pub(crate) as_of: u64,
}

/// Everybody who is down as of the index's last block.
pub(crate) async fn read_down(db: &Db, rules: &DowntimeRules) -> Result<Vec<Downtime>, StoreError> {
    let strip = db.recent_blocks_strip(rules.silent_blocks).await?;
    let silent = silent(&strip, rules);
    let Some(as_of) = strip.first().map(|block| block.number).filter(|_| !silent.is_empty()) else {
        return Ok(Vec::new());
    };
    let report = db.validator_activity(&[rules.window_secs]).await?;
    let mut down = Vec::new();
    for node in silent {
        let Some(activity) = report.validators.iter().find(|known| known.validator == node) else { continue };
        let turns = db.recent_turns(node, TURNS).await?;
        down.extend(judge(activity, &turns, as_of, rules));
    }
    Ok(down)
}

/// Members of the set for all of the last blocks who did nothing for any of them.
fn silent(strip: &[StripBlock], rules: &DowntimeRules) -> Vec<Address> {
    // Nobody seals the genesis block.
    if strip.len() < rules.silent_blocks as usize || strip.iter().any(|block| block.number == 0) {
        return Vec::new();
    }
    let Some(newest) = strip.first() else { return Vec::new() };
    let is_silent = |node: &Address| {
        strip.iter().all(|block| {
            block.validators.contains(node) && !block.sealers.contains(node) && block.proposer != *node
        })
    };
    newest.validators.iter().copied().filter(is_silent).collect()
}

/// Whether a silent validator is down.
fn judge(
    activity: &ValidatorActivity,
    turns: &[TurnRow],
    as_of: u64,
    rules: &DowntimeRules,
) -> Option<Downtime> {
    let uptime_ppm = uptime(activity.windows.first()?)?;
    let clear = turns.iter().filter(|turn| turn.outcome != TurnOutcome::Unclear);
    let missed_in_a_row = clear.take_while(|turn| turn.outcome == TurnOutcome::Missed).count();
    let last_sign = activity.last_sealed.max(activity.last_proposed).unwrap_or(activity.first_block);
    let is_down = uptime_ppm < rules.least_uptime_ppm && missed_in_a_row >= rules.missed_in_a_row;
    is_down.then_some(Downtime { node: activity.validator, last_sign, missed_in_a_row, uptime_ppm, as_of })
}

fn uptime(sums: &ActivitySums) -> Option<u64> {
    (sums.kept * 1_000_000).checked_div(sums.kept + sums.missed)
}

/// Whether the operator was slashed for downtime after this block, by whomever.
pub(crate) async fn was_slashed_since(db: &Db, operator: Address, block: u64) -> Result<bool, StoreError> {
    let filter =
        EventFilter { subject: Some(operator), kinds: vec![EventKind::ValidatorSlashed], before: None };
    let slashes = db.contract_events(&filter, SLASHES).await?;
    Ok(slashes.iter().any(|row| {
        row.block_number > block
            && matches!(row.event, ContractEvent::ValidatorSlashed { reason, .. } if reason == REASON)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NODE: Address = Address::repeat_byte(1);
    const OTHER: Address = Address::repeat_byte(2);
    const RULES: DowntimeRules = DowntimeRules {
        window_secs: 86_400,
        least_uptime_ppm: 990_000,
        missed_in_a_row: 3,
        silent_blocks: 4,
    };

    fn block(number: u64, sealers: &[Address]) -> StripBlock {
        StripBlock {
            number,
            timestamp: number,
            proposer: OTHER,
            round: 0,
            validators: vec![NODE, OTHER],
            sealers: sealers.to_vec(),
            missed: Vec::new(),
            unclear: Vec::new(),
        }
    }

    fn activity(kept: u64, missed: u64) -> ValidatorActivity {
        ValidatorActivity {
            validator: NODE,
            total: ActivitySums::default(),
            first_block: 1,
            first_timestamp: 0,
            last_proposed: Some(10),
            last_sealed: Some(12),
            windows: vec![ActivitySums { kept, missed, ..ActivitySums::default() }],
        }
    }

    fn turns(outcomes: &[TurnOutcome]) -> Vec<TurnRow> {
        let turn =
            |outcome: &TurnOutcome| TurnRow { block_number: 20, timestamp: 0, round: 0, outcome: *outcome };
        outcomes.iter().map(turn).collect()
    }

    #[test]
    fn one_seal_a_shorter_strip_or_a_later_entry_is_no_silence() {
        let mut strip: Vec<_> = (1..5).rev().map(|number| block(number, &[OTHER])).collect();
        assert_eq!(silent(&strip, &RULES), [NODE]);
        assert!(silent(&strip[..3], &RULES).is_empty());
        strip[3].validators = vec![OTHER];
        assert!(silent(&strip, &RULES).is_empty(), "it was not in the set yet");
        strip[3] = block(1, &[NODE, OTHER]);
        assert!(silent(&strip, &RULES).is_empty());
        strip[3] = block(0, &[]);
        assert!(silent(&strip, &RULES).is_empty(), "genesis does not count");
    }

    #[test]
    fn downtime_takes_a_low_uptime_and_turns_missed_in_a_row() {
        use TurnOutcome::{Kept, Missed, Unclear};
        let row = turns(&[Missed, Unclear, Missed, Missed, Kept]);
        let found = judge(&activity(100, 3), &row, 30, &RULES).expect("down");
        assert_eq!((found.last_sign, found.missed_in_a_row, found.uptime_ppm), (12, 3, 970_873));
        assert_eq!(judge(&activity(300, 3), &row, 30, &RULES), None, "99% and more is enough");
        let few = turns(&[Missed, Missed, Kept, Missed]);
        assert_eq!(judge(&activity(100, 3), &few, 30, &RULES), None);
        assert_eq!(judge(&activity(0, 0), &row, 30, &RULES), None, "without a turn there is no uptime");
    }
}
