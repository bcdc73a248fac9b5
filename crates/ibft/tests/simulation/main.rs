//! Networks of validators in virtual time: what holds under lost, late, repeated and reordered messages, crashes,
//! restarts, partitions, votes and equivocation. Longer campaigns run with `cargo run --example soak -- FIRST COUNT`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests are tests"
)]

mod world;

use chainnet_ibft::extra_data::ExtraData;
use chainnet_ibft::proposer::proposer;
use chainnet_ibft::quorum::quorum;
use chainnet_ibft::votes::{Vote, VoteKind};
use world::chaos::{Trouble, play};
use world::{Sights, World, address, config};

/// Stories per trouble, by network size; large networks cost much more per story.
const CAMPAIGN: [(usize, u64); 5] = [(4, 300), (5, 200), (7, 80), (11, 20), (21, 4)];

fn play_campaign(trouble: Trouble) -> Sights {
    let mut total = Sights::default();
    for (validators, stories) in CAMPAIGN {
        for seed in 0..stories {
            let sights = play(seed, validators, trouble).unwrap_or_else(|failure| panic!("{failure}"));
            total.blocks += sights.blocks;
            total.late_rounds += sights.late_rounds;
            total.proposed_again += sights.proposed_again;
            total.set_changes += sights.set_changes;
            total.messages += sights.messages;
            total.restarts += sights.restarts;
        }
    }
    assert!(total.late_rounds > 0, "{total:?}");
    assert!(total.proposed_again > 0, "{total:?}");
    assert!(total.restarts > 0, "{total:?}");
    total
}

#[test]
fn crashes_and_a_bad_network_never_split_the_chain() {
    play_campaign(Trouble::Crashes);
}

#[test]
fn a_bare_quorum_makes_progress_after_trouble() {
    play_campaign(Trouble::BareQuorum);
}

#[test]
fn tolerated_equivocators_never_split_the_chain() {
    play_campaign(Trouble::Twins);
}

#[test]
fn tolerated_validators_without_memory_never_split_the_chain() {
    play_campaign(Trouble::Amnesia);
}

#[test]
fn the_validator_set_changes_under_trouble() {
    let total = play_campaign(Trouble::Votes);
    assert!(total.set_changes > 0, "{total:?}");
}

#[test]
fn the_same_seed_tells_the_same_story() {
    let tell = || format!("{:?}", play(42, 5, Trouble::Crashes).unwrap());
    assert_eq!(tell(), tell());
}

#[test]
fn a_healthy_network_seals_every_block_in_round_zero_and_in_turn() {
    for validators in [1, 2, 3, 4, 5, 7, 11, 21] {
        let mut world = World::new(7, validators, 0, config());
        world.start_all().unwrap();
        world.run_for(41_000).unwrap();
        assert!(world.lowest_running() >= 18, "{validators} validators reached {}", world.lowest_running());
        let node = &world.nodes[0];
        for number in 1..=node.height() {
            let (parent, block) = (&node.block(number - 1).0, &node.block(number).0);
            let extra = ExtraData::decode(&block.extra_data).unwrap();
            assert_eq!(extra.round, 0);
            assert!(extra.seals.len() >= quorum(validators));
            assert_eq!(Some(block.beneficiary), proposer(parent.beneficiary, &extra.validators, 0));
        }
    }
}

#[test]
fn fewer_than_a_quorum_stall_and_go_on_when_it_is_back() {
    for validators in [4, 5, 7, 11] {
        for seed in 0..10 {
            let mut world = World::new(seed, validators, 0, config());
            world.start_all().unwrap();
            world.run_for(15_000).unwrap();
            let missing = validators - quorum(validators) + 1;
            (0..missing).for_each(|node| world.stop(node));
            // What was under way may still be sealed.
            world.run_for(5_000).unwrap();
            let stalled_at = world.highest();
            world.run_for(120_000).unwrap();
            assert_eq!(world.highest(), stalled_at, "{validators} validators, seed {seed}");

            world.start(0).unwrap();
            let goal = stalled_at + 5;
            let recovered = world.run_until(600_000, |world| world.lowest_running() >= goal).unwrap();
            assert!(recovered, "{validators} validators, seed {seed}");
        }
    }
}

#[test]
fn a_minority_island_stands_still_while_the_majority_goes_on() {
    let mut world = World::new(3, 5, 0, config());
    world.start_all().unwrap();
    world.run_for(10_000).unwrap();
    world.islands[2] = 1;
    let split_at = world.nodes[2].height();
    world.run_for(60_000).unwrap();
    assert!(world.nodes[2].height() <= split_at + 1);
    assert!(world.nodes[0].height() > split_at + 5);
    world.islands.fill(0);
    let goal = world.highest() + 5;
    assert!(world.run_until(120_000, |world| world.lowest_running() >= goal).unwrap());
}

#[test]
fn a_candidate_is_voted_in_and_then_takes_its_turns() {
    let mut world = World::new(11, 4, 1, config());
    let recipient = address(4);
    world.start_all().unwrap();
    for node in &mut world.nodes[..3] {
        node.votes.propose(Vote { recipient, kind: VoteKind::Add });
    }
    world.run_for(60_000).unwrap();
    assert!(world.nodes[0].tally.is_validator(recipient));
    let node = &world.nodes[0];
    assert!((1..=node.height()).any(|number| node.block(number).0.beneficiary == recipient));
}

#[test]
fn a_dropped_validator_falls_silent_and_the_rest_goes_on() {
    let mut world = World::new(12, 5, 0, config());
    let recipient = address(1);
    world.start_all().unwrap();
    for node in &mut world.nodes {
        node.votes.propose(Vote { recipient, kind: VoteKind::Drop });
    }
    world.run_for(60_000).unwrap();
    let node = &world.nodes[0];
    assert!(!node.tally.is_validator(recipient));
    assert!(node.height() >= 25);
    let last_five = node.height() - 5..=node.height();
    assert!(last_five.into_iter().all(|number| node.block(number).0.beneficiary != recipient));
}
