//! The ranking: every validator of the board with a score that anybody can compute again.
//!
//! A pure function of the board. `docs/validators.md` has the formula in words and a worked example.

mod fixed;
mod method;
mod score;

use std::{cmp::Reverse, sync::Arc};

use alloy_primitives::{Address, U256};
use ibft::quorum::quorum;

use crate::board::{Board, SlashReason, Turns, ValidatorRecord};

pub use fixed::{Fraction, Points};
pub use method::{Method, Penalty, Weights, Window};
pub use score::{Basis, Components, Fulfilment, Score};

use method::DAY_SECS;

/// The validators, best first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranking {
    /// How the scores were made.
    pub method: Method,
    /// Newest block whose turns are counted, at which all windows end.
    pub as_of_block: Option<u64>,
    /// The block that stakes and standings are of.
    pub block: u64,
    /// Its time, in Unix seconds, up to which tenure and penalties are counted.
    pub time: u64,
    /// The validators, best first.
    pub entries: Vec<RankedValidator>,
}

/// A validator with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankedValidator {
    /// Place, from 1; no two share one.
    pub rank: u32,
    /// The validator.
    pub record: Arc<ValidatorRecord>,
    /// The numbers that the score is made from.
    pub basis: Basis,
    /// The score.
    pub score: Score,
    /// It has not had turns for a whole day yet, and is ranked after those that have.
    pub is_provisional: bool,
}

/// Who comes before whom whatever the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tier {
    Established,
    Provisional,
    Former,
    DoubleSigned,
}

/// Sorts first: tier, then score, then stake, then time of registration, then address.
type Place = (Tier, Reverse<Points>, Reverse<U256>, u64, Address);

impl Ranking {
    /// Ranks the validators of a board.
    pub fn of(board: &Board) -> Self {
        let stakes = board.validators.iter().map(|record| record.stake.0);
        let method = Method::new(stakes.max().unwrap_or_default());
        let mut entries: Vec<RankedValidator> =
            board.validators.iter().map(|record| appraise(record, board, &method)).collect();
        entries.sort_by_cached_key(place);
        for (rank, entry) in (1..).zip(&mut entries) {
            entry.rank = rank;
        }
        Self { method, as_of_block: board.as_of_block, block: board.block, time: board.time, entries }
    }
}

fn appraise(record: &Arc<ValidatorRecord>, board: &Board, method: &Method) -> RankedValidator {
    let basis = basis(record, board, method);
    let score = basis.score(method);
    let [day, _, month] = &basis.windows;
    let is_provisional = day.assigned == month.assigned;
    RankedValidator { rank: 0, record: record.clone(), basis, score, is_provisional }
}

fn basis(record: &ValidatorRecord, board: &Board, method: &Method) -> Basis {
    let days_since = |then: u64| board.time.saturating_sub(then) / DAY_SECS;
    let downtime = record.offences.iter().filter(|offence| offence.reason == SlashReason::Downtime);
    let downtime_slash_days = downtime
        .map(|offence| days_since(offence.at))
        .filter(|&days| days < u64::from(method.downtime.forgotten_days))
        .collect();
    Basis {
        windows: [record.activity.day, record.activity.week, record.activity.month],
        expected_seals: expected_seals(&record.activity.day, board.set_size()),
        stake: record.stake.0,
        tenure_days: record.registered_at.map(days_since),
        commission_bps: record.commission_bps,
        downtime_slash_days,
        has_double_signed: record.has_double_signed(),
    }
}

/// A block carries a quorum's seals, so that a member is expected in so large a part of its blocks.
fn expected_seals(turns: &Turns, set_size: usize) -> u64 {
    let (quorum, size) = (quorum(set_size) as u64, set_size as u64);
    if size == 0 { 0 } else { turns.blocks.saturating_mul(quorum).div_ceil(size) }
}

fn place(entry: &RankedValidator) -> Place {
    let record = &entry.record;
    let tier = if entry.basis.has_double_signed {
        Tier::DoubleSigned
    } else if record.standing.is_former() {
        Tier::Former
    } else if entry.is_provisional {
        Tier::Provisional
    } else {
        Tier::Established
    };
    let joined = record.registered_at.unwrap_or(u64::MAX);
    (tier, Reverse(entry.score.total), Reverse(record.stake.0), joined, record.address())
}

#[cfg(test)]
mod tests;
