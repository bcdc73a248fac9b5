//! Sealing blocks: rotation, stopped validators, votes, the clock, snapshots, restarts.

use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
    },
    time::{Duration, Instant},
};

use alloy_primitives::{Address, U256};
use chainnet_devchain::{
    chain::Chain,
    clock::ChainClock,
    pool::PoolLimits,
    produce::{ControlError, Pacing, Production},
};
use ibft::{
    extra_data::ExtraData,
    seal::ValidatorKey,
    votes::{Vote, VoteKind},
};

use crate::rig::{Rig, genesis, keys};

const BOB: Address = Address::repeat_byte(0xb0);

fn extra(rig: &Rig, number: u64) -> ExtraData {
    let header = rig.chain.store().header(number).unwrap().unwrap();
    ExtraData::decode(&header.extra_data).unwrap()
}

#[tokio::test]
async fn blocks_carry_transfers_and_a_quorum_of_seals() {
    let rig = Rig::new();
    let hash = rig.transfer(0, 0, BOB, 7);
    assert_eq!(rig.mine().await, 1);
    assert_eq!(rig.balance(BOB), U256::from(7));
    assert_eq!(rig.chain.store().find_transaction(hash).unwrap().unwrap().block, 1);
    assert!(extra(&rig, 1).seals.len() >= 4);
    assert!(rig.chain.pool().is_empty());
}

#[tokio::test]
async fn proposers_take_turns_in_address_order() {
    let rig = Rig::new();
    let mut order: Vec<_> = keys().iter().take(5).map(ValidatorKey::address).collect();
    order.sort();
    for turn in 0..10u64 {
        let number = rig.mine().await;
        let header = rig.chain.store().header(number).unwrap().unwrap();
        assert_eq!(header.beneficiary, order[turn as usize % 5]);
        assert_eq!(extra(&rig, number).round, 0);
    }
}

#[tokio::test]
async fn a_stopped_proposer_costs_a_round_and_two_stop_the_chain() {
    let rig = Rig::new();
    rig.control.stop_validator("V4").await.unwrap(); // key 4 has the lowest address: first to propose
    rig.mine().await;
    assert_eq!(extra(&rig, 1).round, 1);
    rig.control.stop_validator("v2").await.unwrap();
    let error = rig.control.mine(None).await.unwrap_err();
    assert_eq!(error, ControlError::NoQuorum { running: 3, total: 5, quorum: 4 });
    rig.control.start_validator("V2").await.unwrap();
    assert_eq!(rig.mine().await, 2);
    let unknown = rig.control.stop_validator("V9").await.unwrap_err();
    assert_eq!(unknown, ControlError::UnknownValidator("V9".to_owned()));
}

#[tokio::test]
async fn votes_add_a_standby_validator_and_drop_it_again() {
    let rig = Rig::new();
    let sixth = keys()[5].address();
    for kind in [VoteKind::Add, VoteKind::Drop] {
        for voter in ["V1", "V2", "V3", "V4"] {
            rig.control.propose_vote(voter, Vote { recipient: sixth, kind }).await.unwrap();
        }
        let wanted = kind == VoteKind::Add;
        for _ in 0..8 {
            rig.mine().await;
        }
        assert_eq!(rig.chain.head().tally.is_validator(sixth), wanted);
        if wanted {
            let mut proposers = Vec::new();
            for _ in 0..6 {
                let number = rig.mine().await;
                proposers.push(rig.chain.store().header(number).unwrap().unwrap().beneficiary);
            }
            assert!(proposers.contains(&sixth), "the sixth validator proposes");
        }
    }
}

#[tokio::test]
async fn the_next_timestamp_can_be_chosen_but_not_in_the_past() {
    let rig = Rig::new();
    rig.mine().await;
    let parent = rig.chain.head().block.header.timestamp;
    let error = rig.control.mine(Some(parent + 1)).await.unwrap_err();
    assert_eq!(error, ControlError::TimestampTooEarly { asked: parent + 1, earliest: parent + 2 });
    rig.control.mine(Some(parent + 1000)).await.unwrap();
    assert_eq!(rig.chain.head().block.header.timestamp, parent + 1000);
    rig.control.set_next_timestamp(parent + 5000).await.unwrap();
    rig.mine().await;
    assert_eq!(rig.chain.head().block.header.timestamp, parent + 5000);
    rig.control.increase_time(86_400).await.unwrap();
    rig.mine().await;
    assert!(rig.chain.head().block.header.timestamp >= parent + 5000 + 86_400);
}

#[tokio::test]
async fn a_snapshot_brings_back_head_state_and_time() {
    let rig = Rig::new();
    rig.transfer(0, 0, BOB, 1);
    rig.mine().await;
    let before = rig.chain.head().block.hash;
    let snapshot = rig.control.snapshot().await.unwrap();
    rig.transfer(0, 1, BOB, 1);
    rig.control.mine(Some(rig.chain.head().block.header.timestamp + 100_000)).await.unwrap();
    assert_eq!(rig.balance(BOB), U256::from(2));
    assert!(rig.control.revert(snapshot).await.unwrap());
    assert_eq!(rig.chain.head().block.hash, before);
    assert_eq!(rig.balance(BOB), U256::from(1));
    assert!(!rig.control.revert(snapshot).await.unwrap(), "a snapshot is used once");
    rig.transfer(0, 1, BOB, 5);
    assert_eq!(rig.mine().await, 2);
    assert_eq!(rig.balance(BOB), U256::from(6));
}

#[tokio::test]
async fn a_restart_goes_on_at_the_head_with_votes_and_history() {
    let rig = Rig::new();
    let sixth = keys()[5].address();
    rig.control.propose_vote("V4", Vote { recipient: sixth, kind: VoteKind::Add }).await.unwrap();
    for nonce in 0..3 {
        rig.transfer(0, nonce, BOB, 10);
        rig.mine().await;
    }
    let (head, tally) = (rig.chain.head().block.clone(), rig.chain.head().tally.clone());
    let rig = rig.reopen();
    assert_eq!(rig.chain.head().block, head);
    assert_eq!(rig.chain.head().tally, tally);
    rig.transfer(0, 3, BOB, 10);
    assert_eq!(rig.mine().await, 4);
    for number in 0..=4u64 {
        let header = rig.chain.store().header(number).unwrap().unwrap();
        let account = rig.chain.state_at(&header).account(BOB).unwrap();
        assert_eq!(account.map_or(U256::ZERO, |a| a.balance), U256::from(number * 10));
    }
}

#[tokio::test]
async fn a_leap_in_time_costs_no_validator_its_turn() {
    let rig = Rig::new();
    rig.mine().await;
    rig.control.increase_time(3600).await.unwrap();
    assert_eq!(extra(&rig, rig.mine().await).round, 0);
    let parent = rig.chain.head().block.header.timestamp;
    rig.control.mine(Some(parent + 86_400)).await.unwrap();
    assert_eq!(extra(&rig, rig.chain.head().block.number()).round, 0);
    // Time that passes while nobody asks for a block is no missed turn either.
    rig.chain.clock().advance_ms(60_000);
    assert_eq!(extra(&rig, rig.mine().await).round, 0);
}

/// Blocks come at their pace, one after the other in time and none too late for its round, whatever somebody does to the
/// machine's clock.
#[tokio::test]
async fn a_clock_that_is_set_stops_no_chain() {
    const PATIENCE: Duration = Duration::from_secs(30);
    let dir = tempfile::tempdir().unwrap();
    let set_by_ms = Arc::new(AtomicI64::new(0));
    let source = Arc::clone(&set_by_ms);
    let started = Instant::now();
    let clock = ChainClock::following(move || {
        let machine_ms = 1_800_000_000_000 + started.elapsed().as_millis() as i64;
        Duration::from_millis((machine_ms + source.load(Ordering::Relaxed)) as u64)
    });
    let chain =
        Chain::open_with(&dir.path().join("chain"), &genesis(), PoolLimits::default(), clock).unwrap();
    let production = Production::start(chain.clone(), keys(), Pacing::Timed).unwrap();
    let mut heads = chain.heads();
    let mut expected = 1;
    for set_to_ms in [0, -5_000, -3_600_000, 0, 7_200_000] {
        set_by_ms.store(set_to_ms, Ordering::Relaxed);
        for _ in 0..2 {
            let next = heads.wait_for(|head| head.as_ref().is_some_and(|head| head.number() >= expected));
            let next = tokio::time::timeout(PATIENCE, next).await;
            assert!(next.is_ok(), "no block {expected} after the clock was set to {set_to_ms} ms");
            expected += 1;
        }
    }
    production.stop().unwrap();
    let last = chain.head().block.number();
    let headers: Vec<_> = (1..=last).map(|n| chain.store().header(n).unwrap().unwrap()).collect();
    for pair in headers.windows(2) {
        assert!(
            pair[1].timestamp >= pair[0].timestamp + 2,
            "{} after {}",
            pair[1].timestamp,
            pair[0].timestamp
        );
    }
    for header in &headers {
        assert_eq!(ExtraData::decode(&header.extra_data).unwrap().round, 0, "block {}", header.number);
    }
    let leapt = headers.windows(2).filter(|pair| pair[1].timestamp > pair[0].timestamp + 60).count();
    assert_eq!(leapt, 1, "forward, the chain goes along");
}
