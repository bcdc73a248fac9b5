//! The expansion of the validator set: what the chain says, what the program plans, and what is being voted on.

use alloy_primitives::Address;
use ibft::votes::VoteKind;

use crate::{
    board::{Board, Expansion, Standing},
    program::{PHASES, Phase, REGIONS, Region},
};

/// Where the expansion stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpansionView {
    /// The block it is of.
    pub block: u64,
    /// What the registry says.
    pub status: Expansion,
    /// The phases of the program.
    pub phases: &'static [Phase],
    /// The regions, each with the slots that are taken as far as applications tell.
    pub regions: Vec<RegionSlots>,
    /// Members whose region nobody has told.
    pub members_without_region: usize,
    /// Votes that have not changed the set yet.
    pub votes: Vec<VoteProgress>,
    /// Size of the validator set.
    pub validator_set_size: usize,
    /// Blocks until the votes are forgotten.
    pub blocks_left: u64,
}

/// A region and how many of its slots are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RegionSlots {
    /// The region.
    pub region: &'static Region,
    /// Members from there.
    pub taken: usize,
}

/// How far a vote has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteProgress {
    /// The node to be added or dropped.
    pub candidate: Address,
    /// The operator whose node it is, if one has registered it.
    pub operator: Option<Address>,
    /// Its display name.
    pub moniker: Option<String>,
    /// What is voted on.
    pub kind: VoteKind,
    /// Who has voted for it.
    pub voters: Vec<Address>,
    /// Votes that decide.
    pub needed: usize,
}

impl ExpansionView {
    /// The view of a board.
    pub fn of(board: &Board) -> Self {
        let members = || {
            let is_member = |standing| matches!(standing, Standing::Active | Standing::Jailed);
            board.validators.iter().filter(move |record| is_member(record.standing))
        };
        let regions = REGIONS.iter().map(|region| RegionSlots {
            region,
            taken: members().filter(|record| record.region == Some(region.code)).count(),
        });
        Self {
            block: board.block,
            status: board.expansion,
            phases: &PHASES,
            regions: regions.collect(),
            members_without_region: members().filter(|record| record.region.is_none()).count(),
            votes: votes(board),
            validator_set_size: board.set_size(),
            blocks_left: board.votes.blocks_left,
        }
    }
}

fn votes(board: &Board) -> Vec<VoteProgress> {
    let progress = board.votes.ballots.iter().map(|ballot| {
        let record = board.find_node(ballot.candidate).filter(|record| record.operator.is_some());
        VoteProgress {
            candidate: ballot.candidate,
            operator: record.and_then(|record| record.operator),
            moniker: record.map(|record| record.moniker.clone()),
            kind: ballot.kind,
            voters: ballot.voters.clone(),
            needed: board.votes.needed,
        }
    });
    progress.collect()
}
