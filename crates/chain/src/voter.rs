//! Nodes of validators, told what to vote on the validator set.
//!
//! A node votes for its own validator alone, so each is asked on its own. The embedded node has several validators.

use std::error::Error;

use alloy_primitives::Address;
use async_trait::async_trait;
use ibft::votes::Vote;

use crate::ChainError;

/// What a node is asked about votes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoteRequest {
    /// Vote like this in the blocks that it proposes, until that is decided. A node does not vote on itself.
    Propose(Vote),
    /// Forget what it was to vote on a node.
    Discard(Address),
    /// Only tell what it will vote.
    List,
}

impl VoteRequest {
    /// What a validator with these votes will vote when it has done what it was asked.
    #[must_use]
    pub fn applied_to(self, mut votes: Vec<Vote>) -> Vec<Vote> {
        match self {
            Self::Propose(vote) => {
                votes.retain(|known| known.recipient != vote.recipient);
                votes.push(vote);
            }
            Self::Discard(subject) => votes.retain(|known| known.recipient != subject),
            Self::List => {}
        }
        votes
    }
}

/// What one validator will vote in the blocks that it proposes, or why it was not to be asked.
#[derive(Debug)]
pub struct Ballot {
    /// The validator, for people.
    pub validator: String,
    /// What it will vote from now on.
    pub votes: Result<Vec<Vote>, VoterError>,
}

/// Why a validator did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum VoterError {
    /// The node did not answer, or refused.
    #[error("the node did not do it")]
    Node(#[from] ChainError),
    /// The chain inside this process did not do it.
    #[error("the embedded chain did not do it")]
    Embedded(#[source] Box<dyn Error + Send + Sync>),
}

/// A node with validators that vote.
#[async_trait]
pub trait Voter: Send + Sync + 'static {
    /// Asks its validators: those that are in the set and run to vote, all of them to forget.
    async fn request(&self, request: VoteRequest) -> Vec<Ballot>;
}
