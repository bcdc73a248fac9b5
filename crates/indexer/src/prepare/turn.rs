//! What a header says about whose turn it was.
//!
//! The proposer of every round is known: the validator after the parent's builder, then one further per round. A block
//! sealed in round 2 therefore names two who did not get theirs through. But a block that was prepared in an earlier round
//! is proposed again, by the later round's proposer, with its builder unchanged: then its builder did propose, and of the
//! rounds in between the header does not tell whether their proposers were there.

use alloy_primitives::Address;
use ibft::proposer::proposer;
use store::index::{NewTurn, TurnOutcome};

/// The turns of rounds 0 to `round`, of which the last sealed a block that `builder` had built.
pub(super) fn turns(
    parent_coinbase: Address,
    builder: Address,
    validators: &[Address],
    round: u32,
) -> Vec<NewTurn> {
    let expected = |round| proposer(parent_coinbase, validators, round);
    let built_in = |round: &u32| expected(*round) == Some(builder);
    // The builder's first turn is the earliest in which the block can have been built; no round is charged after it.
    let Some(built) = (0..=round).find(built_in) else {
        // Nobody's block: no header that follows the rules says this, so nothing can be concluded from it.
        return Vec::new();
    };
    let had_more_turns = (built + 1..=round).any(|later| built_in(&later));
    let outcome = |at: u32| {
        if at == round {
            // Whoever's block it is, only this round's proposer can have proposed it now.
            TurnOutcome::Kept
        } else if at < built {
            TurnOutcome::Missed
        } else if at == built && !had_more_turns {
            TurnOutcome::Kept
        } else {
            TurnOutcome::Unclear
        }
    };
    (0..=round)
        .filter_map(|at| Some(NewTurn { validator: expected(at)?, round: at, outcome: outcome(at) }))
        .collect()
}

#[cfg(test)]
mod tests {
    use TurnOutcome::{Kept, Missed, Unclear};

    use super::*;

    fn set() -> Vec<Address> {
        (1..=4).map(Address::repeat_byte).collect()
    }

    /// Outcomes by round when the parent was built by validator 1, so that round 0 is validator 2's.
    fn outcomes(builder: u8, round: u32) -> Vec<(u8, TurnOutcome)> {
        turns(Address::repeat_byte(1), Address::repeat_byte(builder), &set(), round)
            .into_iter()
            .map(|turn| (turn.validator.0[0], turn.outcome))
            .collect()
    }

    #[test]
    fn a_block_of_the_first_round_keeps_one_turn() {
        assert_eq!(outcomes(2, 0), [(2, Kept)]);
    }

    #[test]
    fn rounds_before_the_builders_own_are_missed() {
        assert_eq!(outcomes(4, 2), [(2, Missed), (3, Missed), (4, Kept)]);
    }

    #[test]
    fn a_block_carried_on_charges_nobody_from_its_builder_on() {
        assert_eq!(outcomes(2, 1), [(2, Kept), (3, Kept)]);
        assert_eq!(outcomes(3, 3), [(2, Missed), (3, Kept), (4, Unclear), (1, Kept)]);
    }

    #[test]
    fn when_the_builder_had_two_turns_neither_is_held_against_anybody() {
        // Round 4 is validator 2's again: it may have built the block in round 0 or just now.
        assert_eq!(outcomes(2, 4), [(2, Unclear), (3, Unclear), (4, Unclear), (1, Unclear), (2, Kept)]);
        assert_eq!(
            outcomes(2, 5),
            [(2, Unclear), (3, Unclear), (4, Unclear), (1, Unclear), (2, Unclear), (3, Kept)]
        );
    }

    #[test]
    fn a_builder_outside_the_set_proves_nothing() {
        assert_eq!(outcomes(9, 2), []);
        assert_eq!(turns(Address::ZERO, Address::ZERO, &[], 0), []);
    }
}
