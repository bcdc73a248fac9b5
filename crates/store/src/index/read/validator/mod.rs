//! What validators did: sums, turns, strips, votes.

mod activity;
mod strip;
mod turn;
mod vote;
mod work;

use alloy_primitives::Address;

pub use work::ValidatorWork;

use crate::{StoreError, convert::parse_address, index::TurnOutcome};

/// The members of a stored validator set.
fn parse_set(members: &[u8]) -> Result<Vec<Address>, StoreError> {
    members.chunks(20).map(|member| parse_address("validator set", member)).collect()
}

fn parse_outcome(number: i16) -> Result<TurnOutcome, StoreError> {
    [TurnOutcome::Missed, TurnOutcome::Kept, TurnOutcome::Unclear]
        .into_iter()
        .find(|outcome| outcome.number() == number)
        .ok_or_else(|| StoreError::corrupt("turn", "no such outcome"))
}

fn parse_round(round: i64) -> Result<u32, StoreError> {
    u32::try_from(round).map_err(|error| StoreError::corrupt("round", error))
}
