//! Quorum, turns and timers.

use alloy_primitives::Address;
use chainnet_ibft::IbftConfig;
use chainnet_ibft::proposer::proposer;
use chainnet_ibft::quorum::{quorum, tolerated_faults, vote_threshold};
use chainnet_ibft::timing::{block_due_ms, proposal_timestamp, round_timeout_ms};

use crate::fixture::{VALIDATORS, config};

#[test]
fn the_quorum_is_two_thirds_rounded_up() {
    let expected = [0, 1, 2, 2, 3, 4, 4, 5, 6, 6, 7];
    assert_eq!(std::array::from_fn(quorum), expected);
    assert_eq!((quorum(11), quorum(21)), (8, 14));
}

#[test]
fn two_quorums_share_more_validators_than_may_be_faulty() {
    for validators in 1..=100 {
        let shared = 2 * quorum(validators) - validators;
        assert!(shared > tolerated_faults(validators), "{validators} validators");
        assert!(validators - tolerated_faults(validators) >= quorum(validators));
    }
}

#[test]
fn a_vote_needs_more_than_half() {
    assert_eq!([1, 2, 3, 4, 5, 11].map(vote_threshold), [1, 2, 2, 3, 3, 6]);
}

#[test]
fn the_lowest_address_begins_and_each_block_and_round_moves_one_on() {
    assert_eq!(proposer(Address::ZERO, &VALIDATORS, 0), Some(VALIDATORS[0]));
    assert_eq!(proposer(Address::ZERO, &VALIDATORS, 1), Some(VALIDATORS[1]));
    for (index, &parent) in VALIDATORS.iter().enumerate() {
        for round in 0..12 {
            let expected = VALIDATORS[(index + 1 + round) % 5];
            assert_eq!(proposer(parent, &VALIDATORS, round as u32), Some(expected));
        }
    }
}

#[test]
fn a_removed_builder_hands_over_to_the_next_greater_address() {
    let removed = VALIDATORS[2];
    let rest = [VALIDATORS[0], VALIDATORS[1], VALIDATORS[3], VALIDATORS[4]];
    assert_eq!(proposer(removed, &rest, 0), Some(VALIDATORS[3]));
    assert_eq!(proposer(removed, &rest, 2), Some(VALIDATORS[0]));
    assert_eq!(
        proposer(VALIDATORS[4], &VALIDATORS[..4], 0),
        Some(VALIDATORS[0]),
        "the greatest wraps around"
    );
    assert_eq!(proposer(removed, &rest, u32::MAX), Some(rest[(2 + u32::MAX as usize) % 4]));
}

#[test]
fn an_empty_set_has_no_proposer() {
    assert_eq!(proposer(Address::ZERO, &[], 3), None);
}

#[test]
fn rounds_double_in_length_without_overflow() {
    let config = config();
    assert_eq!([0, 1, 2, 5].map(|round| round_timeout_ms(round, &config)), [4_000, 8_000, 16_000, 128_000]);
    assert_eq!(round_timeout_ms(u32::MAX, &config), u64::MAX);
}

#[test]
fn a_block_is_due_one_period_after_its_parent() {
    assert_eq!(block_due_ms(100, &config()), 102_000);
    assert_eq!(block_due_ms(u64::MAX, &config()), u64::MAX);
}

#[test]
fn timestamps_round_half_up_at_first_and_down_after_a_round_change() {
    let config: IbftConfig = config();
    assert_eq!(proposal_timestamp(0, 110_499, 100, &config), 110);
    assert_eq!(proposal_timestamp(0, 110_500, 100, &config), 111);
    assert_eq!(proposal_timestamp(1, 110_999, 100, &config), 110);
}

#[test]
fn no_timestamp_is_less_than_a_period_after_the_parents() {
    assert_eq!(proposal_timestamp(0, 100_000, 100, &config()), 102);
    assert_eq!(proposal_timestamp(3, 101_999, 100, &config()), 102);
}
