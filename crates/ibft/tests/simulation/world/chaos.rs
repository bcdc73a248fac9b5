//! Stories with a bad first part and a good end: faults at random for a while, then a network that works. Blocks must
//! never contradict each other, and after the good end comes progress.

use chainnet_ibft::quorum::{quorum, tolerated_faults};
use chainnet_ibft::votes::{Vote, VoteKind};
use rand::Rng;
use rand::seq::SliceRandom;

use super::network::Weather;
use super::{Sights, World, address, config};

/// The kind of trouble, beyond bad weather, partitions and restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// Nothing more.
    Crashes,
    /// After the bad part only a bare quorum comes back.
    BareQuorum,
    /// As many validators as the protocol withstands run twice with one key.
    Twins,
    /// As many validators as the protocol withstands forget their locks in restarts.
    Amnesia,
    /// Validators are voted in and out, with short epochs.
    Votes,
}

/// Blocks that every running node must see after the good end has begun.
const BLOCKS_AFTER: u64 = 3;
/// Virtual time for that. Rounds have grown long by then, and the first may still be wasted.
const PATIENCE_MS: u64 = 1_200_000;

/// Plays one story. The error says which invariant was broken, and how to replay it.
pub(crate) fn play(seed: u64, validators: usize, trouble: Trouble) -> Result<Sights, String> {
    story(seed, validators, trouble).map_err(|failure| {
        format!("seed {seed}, {validators} validators, {trouble:?}: {failure} (replay: --example soak -- {seed} 1)")
    })
}

fn story(seed: u64, validators: usize, trouble: Trouble) -> Result<Sights, String> {
    let mut world = prepare(seed, validators, trouble);
    world.start_all()?;
    for _ in 0..world.rng.random_range(3..12) {
        let pause = world.rng.random_range(100..8_000);
        world.run_for(pause)?;
        strike(&mut world, validators, trouble)?;
    }
    world.weather = Weather::GOOD;
    world.islands.fill(0);
    world.start_all()?;
    if trouble == Trouble::BareQuorum {
        for node in shuffled(&mut world, validators).into_iter().skip(quorum(validators)) {
            world.stop(node);
        }
    }
    let goal = world.highest() + BLOCKS_AFTER;
    if world.run_until(PATIENCE_MS, |world| world.lowest_running() >= goal)? {
        Ok(world.sights)
    } else {
        let views: Vec<_> =
            world.running().map(|node| node.running.as_ref().and_then(|v| v.view())).collect();
        Err(format!("no progress to block {goal}, views {views:?}"))
    }
}

fn prepare(seed: u64, validators: usize, trouble: Trouble) -> World {
    let mut config = config();
    let mut candidates = 0;
    if trouble == Trouble::Votes {
        config.epoch_length = 8;
        candidates = 2;
    }
    let mut world = World::new(seed, validators, candidates, config);
    for faulty in 0..tolerated_faults(validators) {
        match trouble {
            Trouble::Twins => world.add_twin(faulty),
            Trouble::Amnesia => world.nodes[faulty].forgetful = true,
            Trouble::Crashes | Trouble::BareQuorum | Trouble::Votes => {}
        }
    }
    world
}

/// One thing goes wrong, or right again.
fn strike(world: &mut World, validators: usize, trouble: Trouble) -> Result<(), String> {
    let node = world.rng.random_range(0..world.nodes.len());
    match world.rng.random_range(0..8) {
        0 => world.weather = Weather::bad(&mut world.rng),
        1 => world.weather = Weather::GOOD,
        2 => world.stop(node),
        // Restarts of several within a height are where forgotten promises would hurt.
        3 => {
            for node in 0..world.nodes.len() {
                if world.rng.random_range(0..2) == 0 {
                    world.stop(node);
                    world.start(node)?;
                }
            }
        }
        // Power failure: everybody restarts at once.
        4 if world.rng.random_range(0..3) == 0 => {
            (0..world.nodes.len()).for_each(|node| world.stop(node));
            world.start_all()?;
        }
        4 | 5 => world.start_all()?,
        6 => {
            let islands = world.rng.random_range(1..=3);
            for node in 0..world.nodes.len() {
                world.islands[node] = world.rng.random_range(0..islands);
            }
        }
        _ => world.islands.fill(0),
    }
    if trouble == Trouble::Votes {
        campaign(world, validators);
    }
    Ok(())
}

/// Every operator asks for the same change, which keeps the set near its first size.
fn campaign(world: &mut World, validators: usize) {
    let recipient = address(world.rng.random_range(0..validators + 2));
    for node in &mut world.nodes {
        let is_member = node.tally.is_validator(recipient);
        let is_large = node.tally.validators().len() >= validators;
        match (is_member, is_large) {
            (true, true) => node.votes.propose(Vote { recipient, kind: VoteKind::Drop }),
            (false, _) => node.votes.propose(Vote { recipient, kind: VoteKind::Add }),
            (true, false) => node.votes.discard(recipient),
        }
    }
}

fn shuffled(world: &mut World, nodes: usize) -> Vec<usize> {
    let mut order: Vec<_> = (0..nodes).collect();
    order.shuffle(&mut world.rng);
    order
}
