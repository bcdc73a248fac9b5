//! The validator set and the votes about it, counted from the headers since the epoch began.
//!
//! `ibft_getPendingVotes` is no source: it tells what one node wants to vote, not what was voted.

use alloy_primitives::Address;
use ibft::{
    quorum::vote_threshold,
    votes::{Vote, VoteKind, VoteTally},
};

/// The validator set and the votes about it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Votes {
    /// The set in force for the next block, ascending.
    pub validator_set: Vec<Address>,
    /// Votes that have been cast and have not changed the set yet; empty while the index is too far behind to tell.
    pub ballots: Vec<Ballot>,
    /// Newest block whose vote is counted.
    pub as_of_block: u64,
    /// Votes that change the set.
    pub needed: usize,
    /// Blocks until all votes are forgotten.
    pub blocks_left: u64,
}

/// The votes for one change of the set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ballot {
    /// The node to be added or dropped.
    pub candidate: Address,
    /// What the voters want.
    pub kind: VoteKind,
    /// Who voted so, ascending.
    pub voters: Vec<Address>,
}

/// A vote that was found in a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CastVote {
    /// The header's coinbase.
    pub(super) voter: Address,
    /// What it wants.
    pub(super) vote: Vote,
}

impl Votes {
    /// Counts the votes cast after the epoch block, in order, up to `as_of_block`.
    pub(super) fn count(
        epoch_set: impl IntoIterator<Item = Address>,
        cast: impl IntoIterator<Item = CastVote>,
        as_of_block: u64,
        epoch_length: u64,
    ) -> Self {
        let mut tally = VoteTally::new(epoch_set);
        for CastVote { voter, vote } in cast {
            tally.cast(voter, vote);
        }
        let validator_set = tally.validators();
        let ballots = tally.outstanding().map(|(vote, voters)| Ballot {
            candidate: vote.recipient,
            kind: vote.kind,
            voters: voters.iter().copied().collect(),
        });
        Self {
            ballots: ballots.collect(),
            as_of_block,
            needed: vote_threshold(validator_set.len()),
            blocks_left: blocks_left(as_of_block, epoch_length),
            validator_set,
        }
    }

    /// The set that a header states, when the votes are not known.
    pub(super) fn unknown(validator_set: Vec<Address>, block: u64, epoch_length: u64) -> Self {
        Self {
            ballots: Vec::new(),
            as_of_block: block,
            needed: vote_threshold(validator_set.len()),
            blocks_left: blocks_left(block, epoch_length),
            validator_set,
        }
    }

    /// Whether the node is in the set.
    pub fn is_validator(&self, node: Address) -> bool {
        self.validator_set.binary_search(&node).is_ok()
    }

    /// Whether somebody voted to add the node.
    pub fn has_vote_to_add(&self, node: Address) -> bool {
        self.ballots.iter().any(|ballot| ballot.candidate == node && ballot.kind == VoteKind::Add)
    }
}

/// The last block before this one in which votes were forgotten.
pub(super) fn epoch_start(block: u64, epoch_length: u64) -> u64 {
    block - block.checked_rem(epoch_length).unwrap_or(0)
}

fn blocks_left(block: u64, epoch_length: u64) -> u64 {
    epoch_start(block, epoch_length).saturating_add(epoch_length).saturating_sub(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u8) -> Address {
        Address::repeat_byte(number)
    }

    fn add(voter: u8, candidate: u8) -> CastVote {
        CastVote { voter: node(voter), vote: Vote { recipient: node(candidate), kind: VoteKind::Add } }
    }

    #[test]
    fn votes_wait_until_more_than_half_have_voted() {
        let set = [1, 2, 3, 4, 5].map(node);
        let votes = Votes::count(set, [add(1, 9), add(2, 9)], 60_010, 30_000);
        assert_eq!(votes.validator_set, set);
        assert_eq!((votes.needed, votes.blocks_left), (3, 29_990));
        let ballot = Ballot { candidate: node(9), kind: VoteKind::Add, voters: vec![node(1), node(2)] };
        assert_eq!(votes.ballots, [ballot]);
        assert!(votes.has_vote_to_add(node(9)) && !votes.has_vote_to_add(node(8)));

        let decided = Votes::count(set, [add(1, 9), add(2, 9), add(3, 9)], 60_011, 30_000);
        assert!(decided.ballots.is_empty() && decided.is_validator(node(9)));
        assert_eq!(decided.needed, 4);
    }

    #[test]
    fn an_epoch_block_has_the_whole_epoch_before_it() {
        assert_eq!((epoch_start(30_000, 30_000), blocks_left(30_000, 30_000)), (30_000, 30_000));
        assert_eq!((epoch_start(59_999, 30_000), blocks_left(59_999, 30_000)), (30_000, 1));
        assert_eq!((epoch_start(7, 0), blocks_left(7, 0)), (7, 0));
    }
}
