//! Votes, epochs and what an operator wants voted.

use alloy_consensus::Header;
use alloy_primitives::Address;
use chainnet_ibft::IbftConfig;
use chainnet_ibft::extra_data::ExtraData;
use chainnet_ibft::votes::{PendingVotes, Vote, VoteKind, VoteTally};
use proptest::prelude::*;

use crate::fixture::{VALIDATORS, extra};

const NEWCOMER: Address = Address::with_last_byte(0x77);
const OTHER: Address = Address::with_last_byte(0x88);

fn add(recipient: Address) -> Vote {
    Vote { recipient, kind: VoteKind::Add }
}

fn drop(recipient: Address) -> Vote {
    Vote { recipient, kind: VoteKind::Drop }
}

fn tally() -> VoteTally {
    VoteTally::new(VALIDATORS)
}

#[test]
fn the_third_of_five_votes_adds_at_once() {
    let mut tally = tally();
    tally.cast(VALIDATORS[0], add(NEWCOMER));
    tally.cast(VALIDATORS[1], add(NEWCOMER));
    assert!(!tally.is_validator(NEWCOMER));
    tally.cast(VALIDATORS[2], add(NEWCOMER));
    assert!(tally.is_validator(NEWCOMER));
    assert_eq!(tally.validators().len(), 6);
    assert!(tally.validators().is_sorted());
    assert!(!tally.is_outstanding(VALIDATORS[0], add(NEWCOMER)), "decided votes are cleared");
}

#[test]
fn a_repeated_vote_counts_once() {
    let mut tally = tally();
    (0..5).for_each(|_| tally.cast(VALIDATORS[0], add(NEWCOMER)));
    assert!(!tally.is_validator(NEWCOMER));
}

#[test]
fn an_opposite_vote_takes_the_first_one_back() {
    let mut tally = tally();
    tally.cast(VALIDATORS[0], add(NEWCOMER));
    tally.cast(VALIDATORS[1], add(NEWCOMER));
    tally.cast(VALIDATORS[0], drop(NEWCOMER));
    assert!(!tally.is_outstanding(VALIDATORS[0], add(NEWCOMER)));
    tally.cast(VALIDATORS[2], add(NEWCOMER));
    assert!(!tally.is_validator(NEWCOMER), "only two of five are still for it");
}

#[test]
fn a_dropped_validators_outstanding_votes_are_erased() {
    let mut tally = tally();
    let dropped = VALIDATORS[4];
    tally.cast(dropped, add(NEWCOMER));
    tally.cast(dropped, drop(VALIDATORS[0]));
    for voter in &VALIDATORS[..3] {
        tally.cast(*voter, drop(dropped));
    }
    assert_eq!(tally.validators(), VALIDATORS[..4]);
    assert!(!tally.is_outstanding(dropped, add(NEWCOMER)));
    assert!(!tally.is_outstanding(dropped, drop(VALIDATORS[0])));
    // Of four, three are needed; the erased vote does not help.
    tally.cast(VALIDATORS[0], add(NEWCOMER));
    tally.cast(VALIDATORS[1], add(NEWCOMER));
    assert!(!tally.is_validator(NEWCOMER));
}

fn header(number: u64, coinbase: Address, validators: &[Address], vote: Option<Vote>) -> Header {
    let extra = ExtraData { vote, ..extra(validators) };
    Header { number, beneficiary: coinbase, extra_data: extra.encode(), ..Header::default() }
}

#[test]
fn an_epoch_block_forgets_votes_and_ignores_its_own() {
    let config = IbftConfig { epoch_length: 10, ..IbftConfig::default() };
    let vote = Some(add(NEWCOMER));
    let mut tally = VoteTally::at_epoch(&header(0, Address::ZERO, &VALIDATORS, None)).unwrap();
    tally.apply(&header(8, VALIDATORS[0], &VALIDATORS, vote), &config).unwrap();
    tally.apply(&header(9, VALIDATORS[1], &VALIDATORS, vote), &config).unwrap();
    tally.apply(&header(10, VALIDATORS[2], &VALIDATORS, vote), &config).unwrap();
    assert_eq!(tally, self::tally());
    for (number, voter) in [(11, 3), (12, 4), (13, 0)] {
        tally.apply(&header(number, VALIDATORS[voter], &VALIDATORS, vote), &config).unwrap();
    }
    assert!(tally.is_validator(NEWCOMER));
}

#[test]
fn genesis_may_list_validators_in_any_order() {
    let mut reversed = VALIDATORS;
    reversed.reverse();
    let tally = VoteTally::at_epoch(&header(0, Address::ZERO, &reversed, None)).unwrap();
    assert_eq!(tally.validators(), VALIDATORS);
}

#[test]
fn pending_votes_are_cast_in_turn_while_they_matter() {
    let me = VALIDATORS[0];
    let mut tally = tally();
    let mut pending = PendingVotes::default();
    assert_eq!(pending.next_vote(me, &tally), None);
    pending.propose(add(NEWCOMER));
    pending.propose(add(OTHER));
    pending.propose(add(VALIDATORS[1]));
    pending.propose(drop(Address::ZERO));
    assert_eq!(pending.next_vote(me, &tally), Some(add(NEWCOMER)), "settled ones are skipped");
    assert_eq!(pending.next_vote(me, &tally), Some(add(OTHER)));
    assert_eq!(pending.next_vote(me, &tally), Some(add(NEWCOMER)), "not in a block yet, so it comes again");
    tally.cast(me, add(NEWCOMER));
    assert_eq!(pending.next_vote(me, &tally), Some(add(OTHER)));
    tally.cast(me, add(OTHER));
    assert_eq!(pending.next_vote(me, &tally), None, "all are outstanding");
    assert_eq!(pending.iter().count(), 4, "and still wanted");
}

#[test]
fn a_changed_mind_reverses_an_outstanding_vote() {
    let me = VALIDATORS[0];
    let mut tally = tally();
    tally.cast(me, add(NEWCOMER));
    let mut pending = PendingVotes::default();
    pending.propose(drop(NEWCOMER));
    assert_eq!(pending.next_vote(me, &tally), Some(drop(NEWCOMER)));
    pending.discard(NEWCOMER);
    assert_eq!(pending.next_vote(me, &tally), None);
}

proptest! {
    /// Every vote changes the set by at most one member, and only towards what it says.
    #[test]
    fn votes_move_the_set_one_step_at_most(
        votes in proptest::collection::vec((0usize..8, 0usize..8, any::<bool>()), 0..200),
    ) {
        let address = |index: usize| Address::with_last_byte(index as u8);
        let mut tally = VoteTally::new((0..4).map(address));
        for (voter, recipient, wants_in) in votes {
            let recipient = address(recipient);
            let before = tally.validators();
            tally.cast(address(voter), if wants_in { add(recipient) } else { drop(recipient) });
            let after = tally.validators();
            prop_assert!(before.len().abs_diff(after.len()) <= 1);
            if before != after {
                prop_assert_eq!(tally.is_validator(recipient), wants_in);
            }
        }
    }
}
