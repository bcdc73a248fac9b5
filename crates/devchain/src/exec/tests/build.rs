//! Choosing transactions for a new block.

use std::{sync::Arc, time::Duration};

use alloy_consensus::TxLegacy;

use super::{ALICE, BOB, CONTRACT, GAS_LIMIT, World, call_of, legacy, transfer, tx};
use crate::{
    block::Transaction,
    exec::{BuiltBody, RejectReason, SelectionTime, build_body},
};

fn build(world: &World, candidates: &[Transaction]) -> BuiltBody {
    build_within(world, candidates, SelectionTime::within(Duration::from_secs(60)))
}

fn build_within(world: &World, candidates: &[Transaction], time: SelectionTime) -> BuiltBody {
    let candidates = candidates.iter().cloned().map(Arc::new);
    build_body(&world.spec, &world.state, world.hashes(), &world.header, candidates, time).unwrap()
}

fn with_gas(nonce: u64, gas_limit: u64) -> TxLegacy {
    TxLegacy { gas_limit, ..tx(nonce, BOB) }
}

#[test]
fn built_body_executes_to_the_same_outcome() {
    let world = World::london().with_code(CONTRACT, "34600155");
    let body = build(&world, &[transfer(ALICE, 0, BOB), transfer(BOB, 0, CONTRACT), transfer(ALICE, 1, BOB)]);
    assert_eq!(body.transactions.len(), 2 + 1);
    assert_eq!(world.try_run(&body.transactions).unwrap(), body.outcome);
}

#[test]
fn invalid_candidate_is_reported_and_holds_back_only_its_sender() {
    let world = World::london();
    let stale = transfer(ALICE, 7, BOB);
    let body = build(&world, &[stale.clone(), transfer(ALICE, 8, BOB), transfer(BOB, 0, ALICE)]);
    assert_eq!(body.transactions, [transfer(BOB, 0, ALICE)].map(Arc::new));
    assert_eq!(body.rejected, [(*stale.inner().tx_hash(), RejectReason::NonceTooHigh { tx: 7, state: 0 })]);
}

#[test]
fn candidate_that_does_not_fit_waits_without_being_rejected() {
    let world = World::london();
    let large = legacy(ALICE, with_gas(0, GAS_LIMIT));
    let body =
        build(&world, &[transfer(BOB, 0, ALICE), large, transfer(ALICE, 1, BOB), transfer(BOB, 1, ALICE)]);
    assert_eq!(body.transactions, [transfer(BOB, 0, ALICE), transfer(BOB, 1, ALICE)].map(Arc::new));
    assert!(body.rejected.is_empty());
}

#[test]
fn candidate_that_can_never_fit_is_rejected() {
    let world = World::london();
    let body = build(&world, &[legacy(ALICE, with_gas(0, GAS_LIMIT + 1))]);
    assert_eq!(body.rejected.len(), 1);
}

#[test]
fn block_takes_transactions_until_its_gas_is_used() {
    let mut world = World::london();
    world.header.gas_limit = 50_000;
    let candidates: Vec<_> = (0..5).map(|nonce| transfer(ALICE, nonce, BOB)).collect();
    let body = build(&world, &candidates);
    assert_eq!(body.transactions.len(), 2);
    assert!(body.rejected.is_empty());
}

#[test]
fn nothing_is_taken_after_the_deadline() {
    let time = SelectionTime::within(Duration::ZERO);
    let body = build_within(&World::london(), &[transfer(ALICE, 0, BOB)], time);
    assert!(body.transactions.is_empty());
}

/// Time of which a transaction gets next to nothing.
fn hurried() -> SelectionTime {
    let time = SelectionTime::within(Duration::from_secs(60));
    SelectionTime { per_transaction: Duration::from_micros(50), ..time }
}

/// A call with all the gas of a block.
fn long_call() -> Transaction {
    legacy(ALICE, TxLegacy { gas_limit: GAS_LIMIT, ..tx(0, CONTRACT) })
}

#[test]
fn transactions_that_take_too_long_are_stopped_wherever_they_are() {
    for (what, code) in [
        ("a loop", "5b600056"),
        ("a conditional loop", "5b6001600057"),
        ("a loop with hashes of memory", "5b 61ffff6000 20 50 600056"),
        ("a loop over slots", "6000 5b 600101 80 54 50 6002 56"),
        ("calls of itself", "6000600060006000 6000 30 5af1 00"),
        ("creations of itself", "38 6000 6000 39 38 6000 6000 f0 00"),
        (
            "a precompiled contract with five million rounds",
            "63004c4b4060e01b600052 6040610100 60d5 6000 6009 5afa50 00",
        ),
    ] {
        let world = World::london().with_code(CONTRACT, code);
        let body = build_within(&world, &[long_call(), transfer(BOB, 0, ALICE)], hurried());
        assert_eq!(body.stopped, [Arc::new(long_call())], "{what}");
        assert_eq!(body.transactions, [transfer(BOB, 0, ALICE)].map(Arc::new), "{what}");
        // What is left is as if it had never been tried, and whoever is given it executes it.
        assert_eq!(world.try_run(&body.transactions).unwrap(), body.outcome, "{what}");
        assert_eq!(world.try_run(&[long_call()]).unwrap().receipts.len(), 1, "{what}");
    }
}

#[test]
fn a_precompiled_contract_costs_the_same_when_time_is_short() {
    // Twelve rounds, with more gas than the time left is worth.
    let world =
        World::london().with_code(CONTRACT, "600c60e01b600052 6040610100 60d5 6000 6009 5afa 60005500");
    let time = SelectionTime { per_transaction: Duration::from_secs(2), ..hurried() };
    let body = build_within(&world, &[long_call()], time);
    assert_eq!(body.transactions.len(), 1);
    assert!(body.outcome.receipts[0].success);
    assert_eq!(world.try_run(&body.transactions).unwrap(), body.outcome);
}

#[test]
fn little_gas_is_not_watched() {
    let world = World::london().with_code(CONTRACT, "5b600056");
    let body = build_within(&world, &[call_of(ALICE, 0, CONTRACT)], hurried());
    assert_eq!(body.transactions.len(), 1);
    assert!(!body.outcome.receipts[0].success, "out of gas, as it should be");
}

#[test]
fn much_gas_is_not_begun_without_the_time_for_it() {
    let world = World::london().with_code(CONTRACT, "00");
    let time = SelectionTime { per_transaction: Duration::from_secs(61), ..hurried() };
    let body = build_within(&world, &[long_call(), transfer(BOB, 0, ALICE)], time);
    assert_eq!(body.transactions, [transfer(BOB, 0, ALICE)].map(Arc::new));
    assert!(body.stopped.is_empty() && body.rejected.is_empty(), "it waits for the next block");
}

#[test]
fn a_sender_goes_on_after_the_others_when_it_has_had_its_share_of_gas() {
    let mut world = World::london().with_code(CONTRACT, "5b600056");
    world.header.gas_limit = 3_000_000;
    let mut candidates: Vec<_> = (0..3).map(|nonce| call_of(ALICE, nonce, CONTRACT)).collect();
    candidates.push(call_of(BOB, 0, CONTRACT));
    let body = build(&world, &candidates);
    let senders: Vec<_> = body.transactions.iter().map(|tx| tx.signer()).collect();
    assert_eq!(senders, [ALICE, BOB, ALICE]);
}
