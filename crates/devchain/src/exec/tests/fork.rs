//! What differs between London and Shanghai, seen from inside a contract.

use alloy_consensus::TxLegacy;
use alloy_primitives::{Bytes, TxKind, U256, keccak256};
use alloy_rpc_types_eth::TransactionRequest;

use super::{ALICE, CONTRACT, PROPOSER, World, legacy, tx};
use crate::exec::{CallOutcome, ExecError, HaltReason, RejectReason, call};

/// Appended to code that leaves one word on the stack: returns that word.
const RETURN_WORD: &str = "600052 60206000f3";

fn word(world: World, code: &str) -> U256 {
    let world = world.with_code(CONTRACT, &format!("{code}{RETURN_WORD}"));
    match run(&world) {
        CallOutcome::Success { output, .. } => U256::from_be_slice(&output),
        other => panic!("{other:?}"),
    }
}

fn run(world: &World) -> CallOutcome {
    let request = TransactionRequest::default().from(ALICE).to(CONTRACT);
    call(world.call_context(), &request, None, None).unwrap()
}

fn creation(size: usize) -> TxLegacy {
    TxLegacy { gas_limit: 20_000_000, input: Bytes::from(vec![0; size]), ..tx(0, TxKind::Create) }
}

#[test]
fn opcode_0x44_is_difficulty_one_on_london() {
    assert_eq!(word(World::london(), "44"), U256::ONE);
}

#[test]
fn opcode_0x44_is_the_ibft_mix_hash_on_shanghai() {
    assert_eq!(word(World::shanghai(), "44"), U256::from_be_bytes(ibft::rules::MIX_HASH.0));
}

#[test]
fn push0_exists_only_from_shanghai_on() {
    let london = World::london().with_code(CONTRACT, "5f00");
    assert!(matches!(run(&london), CallOutcome::Halt { reason: HaltReason::NotActivated, .. }));
    assert_eq!(word(World::shanghai(), "5f"), U256::ZERO);
}

#[test]
fn shanghai_starts_with_its_timestamp() {
    let mut world = World::london();
    world.spec.shanghai_time = Some(world.header.timestamp + 1);
    assert_eq!(word(world, "44"), U256::ONE);
    let mut world = World::london();
    world.spec.shanghai_time = Some(world.header.timestamp);
    assert_ne!(word(world, "44"), U256::ONE);
}

#[test]
fn coinbase_is_warm_only_from_shanghai_on() {
    // COINBASE BALANCE POP STOP
    let gas = |world: World| match run(&world.with_code(CONTRACT, "41315000")) {
        CallOutcome::Success { gas_used, .. } => gas_used,
        other => panic!("{other:?}"),
    };
    assert_eq!(gas(World::london()), 21_000 + 2 + 2_600 + 2);
    assert_eq!(gas(World::shanghai()), 21_000 + 2 + 100 + 2);
}

#[test]
fn init_code_is_limited_only_from_shanghai_on() {
    let too_large = legacy(ALICE, creation(49_153));
    assert!(World::london().try_run(std::slice::from_ref(&too_large)).unwrap().receipts[0].success);
    assert!(matches!(
        World::shanghai().try_run(&[too_large]),
        Err(ExecError::InvalidTransaction { index: 0, reason: RejectReason::InitCodeTooLarge, .. })
    ));
    assert!(World::shanghai().try_run(&[legacy(ALICE, creation(49_152))]).unwrap().receipts[0].success);
}

#[test]
fn raised_contract_size_limit_leaves_the_init_code_limit_alone() {
    let mut world = World::shanghai();
    world.spec.contract_size_limit = 1_000_000;
    assert!(world.try_run(&[legacy(ALICE, creation(49_153))]).is_err());
}

#[test]
fn contract_size_limit_comes_from_the_chain() {
    // PUSH2 24577 PUSH1 0 RETURN
    let deploy = TxLegacy {
        gas_limit: 20_000_000,
        input: Bytes::from_static(&[0x61, 0x60, 0x01, 0x60, 0x00, 0xf3]),
        ..tx(0, TxKind::Create)
    };
    let mut world = World::london();
    assert!(!world.try_run(&[legacy(ALICE, deploy.clone())]).unwrap().receipts[0].success);
    world.spec.contract_size_limit = 24_577;
    assert!(world.try_run(&[legacy(ALICE, deploy)]).unwrap().receipts[0].success);
}

#[test]
fn the_block_is_visible_to_contracts() {
    assert_eq!(word(World::london(), "46"), U256::from(1337), "CHAINID");
    assert_eq!(word(World::london(), "43"), U256::ONE, "NUMBER");
    assert_eq!(word(World::london(), "42"), U256::from(100), "TIMESTAMP");
    assert_eq!(word(World::london(), "45"), U256::from(30_000_000), "GASLIMIT");
    assert_eq!(word(World::london(), "41"), U256::from_be_slice(PROPOSER.as_slice()), "COINBASE");
    let mut world = World::london();
    world.spec.mining_beneficiary = Some(ALICE);
    assert_eq!(word(world, "41"), U256::from_be_slice(ALICE.as_slice()), "COINBASE with a beneficiary");
}

#[test]
fn blockhash_reads_the_chains_own_hashes() {
    let expected = U256::from_be_bytes(keccak256(0_u64.to_be_bytes()).0);
    // PUSH1 1 NUMBER SUB BLOCKHASH
    assert_eq!(word(World::london(), "6001430340"), expected);
    let mut world = World::london();
    world.header.number = 300;
    // PUSH1 1 BLOCKHASH: more than 256 blocks ago
    assert_eq!(word(world, "600140"), U256::ZERO);
}
