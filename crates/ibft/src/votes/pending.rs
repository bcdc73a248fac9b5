//! What the operator of one validator wants voted, and which vote goes into the next block.

use std::collections::BTreeMap;
use std::ops::Bound;

use alloy_primitives::Address;

use super::{Vote, VoteKind, VoteTally};

/// The votes a validator was asked to cast (`ibft_proposeValidatorVote`). They live in memory only, survive epochs
/// and stay until discarded; only operators add to them, so their number is not limited.
#[derive(Debug, Clone, Default)]
pub struct PendingVotes {
    wanted: BTreeMap<Address, VoteKind>,
    last_cast: Option<Address>,
}

impl PendingVotes {
    /// Wants a vote, in place of an earlier one about the same address.
    pub fn propose(&mut self, vote: Vote) {
        self.wanted.insert(vote.recipient, vote.kind);
    }

    /// Forgets the vote about an address.
    pub fn discard(&mut self, recipient: Address) {
        self.wanted.remove(&recipient);
    }

    /// All wanted votes, by address.
    pub fn iter(&self) -> impl Iterator<Item = Vote> {
        self.wanted.iter().map(|(&recipient, &kind)| Vote { recipient, kind })
    }

    /// The vote for the block that `voter` is about to build on the block after which `tally` stands: the next one
    /// in turn that is not yet cast.
    pub fn next_vote(&mut self, voter: Address, tally: &VoteTally) -> Option<Vote> {
        let after = self.last_cast.map_or(Bound::Unbounded, Bound::Excluded);
        let vote = self
            .wanted
            .range((after, Bound::Unbounded))
            .chain(self.wanted.iter())
            .map(|(&recipient, &kind)| Vote { recipient, kind })
            .find(|&vote| is_worth_casting(voter, vote, tally))?;
        self.last_cast = Some(vote.recipient);
        Some(vote)
    }
}

/// A vote is cast while it can still change something, or to take back the voter's own opposite vote.
fn is_worth_casting(voter: Address, vote: Vote, tally: &VoteTally) -> bool {
    let (opposite, is_settled) = match vote.kind {
        VoteKind::Add => (VoteKind::Drop, tally.is_validator(vote.recipient)),
        VoteKind::Drop => (VoteKind::Add, !tally.is_validator(vote.recipient)),
    };
    let reverses = tally.is_outstanding(voter, Vote { kind: opposite, ..vote });
    reverses || (!is_settled && !tally.is_outstanding(voter, vote))
}
