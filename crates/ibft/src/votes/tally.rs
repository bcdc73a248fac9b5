//! The votes counted so far in an epoch and the validator set that follows from them.

use std::collections::{BTreeMap, BTreeSet};

use alloy_consensus::Header;
use alloy_primitives::Address;

use crate::config::IbftConfig;
use crate::extra_data::{ExtraData, ExtraDataError};
use crate::quorum::vote_threshold;

use super::{Vote, VoteKind};

/// Voters by the address they vote about.
type Ballots = BTreeMap<Address, BTreeSet<Address>>;

/// The validator set after a block, with the votes that have not changed it yet.
///
/// Start from an epoch block (genesis is one) with [`VoteTally::at_epoch`] and [`apply`](VoteTally::apply) each
/// header after it. [`validators`](VoteTally::validators) is then the set in force for the next block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VoteTally {
    validators: BTreeSet<Address>,
    adds: Ballots,
    drops: Ballots,
}

impl VoteTally {
    /// The tally after an epoch block: the validators its header lists, no votes.
    pub fn at_epoch(header: &Header) -> Result<Self, ExtraDataError> {
        Ok(Self::new(ExtraData::decode(&header.extra_data)?.validators))
    }

    /// A tally without votes.
    pub fn new(validators: impl IntoIterator<Item = Address>) -> Self {
        Self { validators: validators.into_iter().collect(), adds: Ballots::new(), drops: Ballots::new() }
    }

    /// Counts the next header of the chain. A vote inside an epoch block is ignored.
    pub fn apply(&mut self, header: &Header, config: &IbftConfig) -> Result<(), ExtraDataError> {
        let extra = ExtraData::decode(&header.extra_data)?;
        if config.is_epoch_block(header.number) {
            *self = Self::new(extra.validators);
        } else if let Some(vote) = extra.vote {
            self.cast(header.beneficiary, vote);
        }
        Ok(())
    }

    /// Counts one vote and changes the set at once when the vote decides.
    pub fn cast(&mut self, voter: Address, vote: Vote) {
        let threshold = vote_threshold(self.validators.len());
        let (same, opposite) = match vote.kind {
            VoteKind::Add => (&mut self.adds, &mut self.drops),
            VoteKind::Drop => (&mut self.drops, &mut self.adds),
        };
        withdraw(opposite, vote.recipient, voter);
        let voters = same.entry(vote.recipient).or_default();
        voters.insert(voter);
        if voters.len() >= threshold {
            self.decide(vote);
        }
    }

    fn decide(&mut self, vote: Vote) {
        self.adds.remove(&vote.recipient);
        self.drops.remove(&vote.recipient);
        match vote.kind {
            VoteKind::Add => {
                self.validators.insert(vote.recipient);
            }
            VoteKind::Drop => {
                self.validators.remove(&vote.recipient);
                for ballots in [&mut self.adds, &mut self.drops] {
                    ballots.retain(|_, voters| {
                        voters.remove(&vote.recipient);
                        !voters.is_empty()
                    });
                }
            }
        }
    }

    /// The set in force for the next block, ascending.
    pub fn validators(&self) -> Vec<Address> {
        self.validators.iter().copied().collect()
    }

    /// Whether the address is in the set.
    pub fn is_validator(&self, address: Address) -> bool {
        self.validators.contains(&address)
    }

    /// The votes that are counted and wait for others, each with its voters, by what they want and whom.
    pub fn outstanding(&self) -> impl Iterator<Item = (Vote, &BTreeSet<Address>)> {
        let adds =
            self.adds.iter().map(|(&recipient, voters)| (Vote { recipient, kind: VoteKind::Add }, voters));
        let drops =
            self.drops.iter().map(|(&recipient, voters)| (Vote { recipient, kind: VoteKind::Drop }, voters));
        adds.chain(drops)
    }

    /// Whether this vote of this voter is counted and waits for others.
    pub fn is_outstanding(&self, voter: Address, vote: Vote) -> bool {
        let ballots = match vote.kind {
            VoteKind::Add => &self.adds,
            VoteKind::Drop => &self.drops,
        };
        ballots.get(&vote.recipient).is_some_and(|voters| voters.contains(&voter))
    }
}

fn withdraw(ballots: &mut Ballots, recipient: Address, voter: Address) {
    if let Some(voters) = ballots.get_mut(&recipient) {
        voters.remove(&voter);
        if voters.is_empty() {
            ballots.remove(&recipient);
        }
    }
}
