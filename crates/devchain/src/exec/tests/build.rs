//! Choosing transactions for a new block.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use alloy_consensus::TxLegacy;

use super::{ALICE, BOB, CONTRACT, GAS_LIMIT, World, legacy, transfer, tx};
use crate::{
    block::Transaction,
    exec::{BuiltBody, RejectReason, build_body},
};

fn build(world: &World, candidates: &[Transaction]) -> BuiltBody {
    build_until(world, candidates, Instant::now() + Duration::from_secs(60))
}

fn build_until(world: &World, candidates: &[Transaction], deadline: Instant) -> BuiltBody {
    let candidates = candidates.iter().cloned().map(Arc::new);
    build_body(&world.spec, &world.state, world.hashes(), &world.header, candidates, deadline).unwrap()
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
    let body = build_until(&World::london(), &[transfer(ALICE, 0, BOB)], Instant::now());
    assert!(body.transactions.is_empty());
}
