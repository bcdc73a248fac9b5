//! One validator in full: its record and rank, what the registry logged of it, its last turns, and the votes about it.

use std::sync::Arc;

use alloy_primitives::{Address, B256};
use store::{
    Db,
    index::{EventFilter, EventKind, EventRow, TurnRow},
    keeper::OffenceKind,
};

use crate::{
    board::{Ballot, Board, ValidatorRecord},
    error::ValidatorError,
    ranking::RankedValidator,
};

/// Turns that are listed.
const TURNS: u32 = 100;
/// Registry events that are listed.
const EVENTS: u32 = 100;
/// Reports of the keeper that are looked at.
const REPORTS: u32 = 100;

/// Events that change the standing or the stake of a validator.
const STANDING_EVENTS: [EventKind; 7] = [
    EventKind::ValidatorRegistered,
    EventKind::ValidatorSlashed,
    EventKind::ValidatorJailed,
    EventKind::ValidatorUnjailed,
    EventKind::ValidatorRemoved,
    EventKind::ExitRequested,
    EventKind::StakeWithdrawn,
];
/// Events that move rewards.
const REWARD_EVENTS: [EventKind; 2] = [EventKind::RewardsDistributed, EventKind::RewardsClaimed];

/// One validator in full. Lists are newest first and bounded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidatorDetail {
    /// Its record.
    pub record: Arc<ValidatorRecord>,
    /// Its place in the ranking, with the score.
    pub ranked: Option<RankedValidator>,
    /// Registrations, slashes, jails, exits and removals.
    pub history: Vec<EventRow>,
    /// Rewards set aside and taken. What is not yet taken is in the record.
    pub rewards: Vec<EventRow>,
    /// Its last turns to propose.
    pub recent_turns: Vec<TurnRow>,
    /// Proof that it signed two blocks of one height and round.
    pub evidence: Vec<Evidence>,
    /// Votes about it that have not changed the set yet.
    pub votes: Vec<Ballot>,
    /// Votes that decide.
    pub votes_needed: usize,
    /// The block that the record is of.
    pub block: u64,
    /// Newest block whose turns and events are listed.
    pub as_of_block: Option<u64>,
}

/// Two seals of one validator for different blocks of one height and round, as the keeper found them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    /// The height.
    pub block_number: u64,
    /// The round.
    pub round: u32,
    /// The two digests that it sealed.
    pub digests: [B256; 2],
    /// When the second one was seen, in Unix seconds.
    pub seen_at: u64,
}

/// Reads everything about the validator with this operator or consensus address.
pub async fn read_detail(
    db: &Db,
    board: &Board,
    address: Address,
) -> Result<ValidatorDetail, ValidatorError> {
    let record = board.get(address)?.clone();
    let (mut history, mut rewards) = (Vec::new(), Vec::new());
    if let Some(operator) = record.operator {
        history = events(db, operator, &STANDING_EVENTS).await?;
        rewards = events(db, operator, &REWARD_EVENTS).await?;
    }
    let recent_turns = match record.consensus {
        Some(node) => db.recent_turns(node, TURNS).await?,
        None => Vec::new(),
    };
    let ranked = board.ranking().entries.iter().find(|entry| entry.record.address() == record.address());
    let votes = board.votes.ballots.iter().filter(|ballot| Some(ballot.candidate) == record.consensus);
    Ok(ValidatorDetail {
        ranked: ranked.cloned(),
        history,
        rewards,
        recent_turns,
        evidence: evidence(db, record.address()).await?,
        votes: votes.cloned().collect(),
        votes_needed: board.votes.needed,
        block: board.block,
        as_of_block: board.as_of_block,
        record,
    })
}

async fn evidence(db: &Db, validator: Address) -> Result<Vec<Evidence>, ValidatorError> {
    let reports = db.offences_of(validator, OffenceKind::DoubleSign, REPORTS).await?;
    let evidence = reports.into_iter().filter_map(|row| {
        let report = row.report;
        let proof = report.proof?;
        Some(Evidence {
            block_number: report.block_number,
            round: proof.round,
            digests: proof.digests,
            seen_at: report.seen_at,
        })
    });
    Ok(evidence.collect())
}

async fn events(db: &Db, operator: Address, kinds: &[EventKind]) -> Result<Vec<EventRow>, ValidatorError> {
    let filter = EventFilter { subject: Some(operator), kinds: kinds.to_vec(), before: None };
    Ok(db.contract_events(&filter, EVENTS).await?)
}
