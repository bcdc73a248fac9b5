//! Whose turn it is.

use alloy_primitives::Address;

/// The proposer of a round: the validator after the parent's builder, then one further per round.
///
/// `validators` is the ascending set in force for the block. A builder that is no longer in the set (or the zero
/// coinbase of genesis) hands over to the next greater address. `None` for an empty set.
pub fn proposer(parent_coinbase: Address, validators: &[Address], round: u32) -> Option<Address> {
    let first = match validators.binary_search(&parent_coinbase) {
        Ok(index) => index + 1,
        Err(next_greater) => next_greater,
    };
    let turn = (first as u64 + u64::from(round)).checked_rem(validators.len() as u64)?;
    validators.get(usize::try_from(turn).ok()?).copied()
}
