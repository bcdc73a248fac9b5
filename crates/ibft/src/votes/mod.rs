//! Changing the validator set by votes in block headers.

mod pending;
mod tally;

use alloy_primitives::Address;

pub use pending::PendingVotes;
pub use tally::VoteTally;

/// What a vote wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VoteKind {
    /// The recipient should become a validator.
    Add,
    /// The recipient should stop being one.
    Drop,
}

/// The vote in a header; the voter is the header's coinbase.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Vote {
    /// Whom the vote is about.
    pub recipient: Address,
    /// What it wants.
    pub kind: VoteKind,
}
