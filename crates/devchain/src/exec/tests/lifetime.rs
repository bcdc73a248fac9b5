//! Accounts that come and go: self-destruction, re-creation and empty accounts.

use alloy_consensus::TxLegacy;
use alloy_primitives::{Address, U256, address, b256, hex, keccak256};

use super::{ALICE, BOB, CONTRACT, PROPOSER, World, call_of, legacy, transfer, tx};
use crate::block::Transaction;

/// CALLER SELFDESTRUCT
const DESTRUCTIBLE: &str = "33ff";
/// Creates, with CREATE2 and the value it is sent, a contract that stores that value in slot 0 and is [`DESTRUCTIBLE`].
const FACTORY: &str = "6e 3460005561 33ff 600052 6002601ef3 600052 6000600f601134f500";

fn child() -> Address {
    CONTRACT.create2(b256!("0000000000000000000000000000000000000000000000000000000000000000"), init_hash())
}

fn init_hash() -> alloy_primitives::B256 {
    keccak256(hex!("34600055 6133ff 600052 6002601ef3"))
}

fn create_child(nonce: u64, value: u64) -> Transaction {
    legacy(ALICE, TxLegacy { value: U256::from(value), ..tx(nonce, CONTRACT) })
}

#[test]
fn destroyed_contract_loses_code_storage_and_balance() {
    let mut world = World::london().with_contract(CONTRACT, DESTRUCTIBLE, &[(1, 7)]);
    let outcome = world.run(&[call_of(ALICE, 0, CONTRACT)]);
    let diff = &outcome.diff.accounts[&CONTRACT];
    assert_eq!(diff.account, None);
    assert!(diff.wiped);
    assert_eq!(world.account(CONTRACT), None);
    assert_eq!(world.slot(CONTRACT, 1), 0);
}

#[test]
fn destroyed_contract_that_receives_money_later_in_the_block_is_a_plain_account() {
    let mut world = World::london().with_contract(CONTRACT, DESTRUCTIBLE, &[(1, 7)]);
    world.run(&[call_of(ALICE, 0, CONTRACT), transfer(BOB, 0, CONTRACT)]);
    let account = world.account(CONTRACT).unwrap();
    assert_eq!((account.nonce, account.balance, account.code_hash), (0, U256::ONE, keccak256([])));
    assert_eq!(world.slot(CONTRACT, 1), 0);
}

#[test]
fn contract_destroyed_in_the_transaction_that_creates_it_leaves_nothing() {
    // Init code that stores and destroys: PUSH1 5 PUSH1 0 SSTORE CALLER SELFDESTRUCT
    let deploy = TxLegacy {
        input: hex!("6005600055 33ff").into(),
        value: U256::from(3),
        ..tx(0, alloy_primitives::TxKind::Create)
    };
    let mut world = World::london();
    let before = world.account(ALICE).unwrap().balance;
    let outcome = world.run(&[legacy(ALICE, deploy)]);
    assert!(outcome.receipts[0].success);
    assert_eq!(world.account(outcome.receipts[0].contract_address.unwrap()), None);
    assert_eq!(world.account(ALICE).unwrap().balance, before);
    assert_eq!(outcome.diff.accounts.keys().copied().collect::<Vec<_>>(), [ALICE]);
}

#[test]
fn contract_can_be_created_destroyed_and_created_again_in_one_block() {
    let mut world = World::london().with_code(CONTRACT, FACTORY);
    let outcome = world.run(&[create_child(0, 5), call_of(BOB, 0, child()), create_child(1, 6)]);
    assert!(outcome.receipts.iter().all(|receipt| receipt.success));
    let account = world.account(child()).unwrap();
    assert_eq!((account.nonce, account.balance), (1, U256::from(6)));
    assert_eq!(world.slot(child(), 0), 6);
    assert_eq!(world.state.code(account.code_hash).unwrap().as_ref(), hex!("33ff"));
}

#[test]
fn contract_can_be_created_again_in_a_later_block_with_fresh_storage() {
    let mut world = World::london().with_code(CONTRACT, FACTORY);
    world.run(&[create_child(0, 5)]);
    assert_eq!(world.slot(child(), 0), 5);
    let outcome = world.run(&[call_of(BOB, 0, child()), create_child(1, 0)]);
    assert!(outcome.diff.accounts[&child()].wiped);
    assert_eq!(world.account(child()).unwrap().nonce, 1);
    assert_eq!(world.slot(child(), 0), 0);
}

#[test]
fn creation_at_a_living_contracts_address_fails() {
    let mut world = World::london().with_code(CONTRACT, FACTORY);
    world.run(&[create_child(0, 5), create_child(1, 6)]);
    assert_eq!(world.slot(child(), 0), 5);
    assert_eq!(world.account(child()).unwrap().balance, U256::from(5));
}

#[test]
fn contract_created_and_destroyed_in_one_block_is_not_part_of_the_diff() {
    let mut world = World::london().with_code(CONTRACT, FACTORY);
    let outcome = world.run(&[create_child(0, 0), call_of(BOB, 0, child())]);
    assert!(!outcome.diff.accounts.contains_key(&child()));
    assert!(outcome.diff.code.is_empty());
}

#[test]
fn free_transactions_do_not_create_the_beneficiary() {
    let mut world = World::london();
    let outcome = world.run(&[transfer(ALICE, 0, BOB)]);
    assert!(!outcome.diff.accounts.contains_key(&PROPOSER));
    assert_eq!(world.account(PROPOSER), None);
}

#[test]
fn call_without_value_does_not_create_its_target() {
    let nobody = address!("00000000000000000000000000000000000000ee");
    let mut world = World::london();
    let outcome = world.run(&[call_of(ALICE, 0, nobody)]);
    assert!(!outcome.diff.accounts.contains_key(&nobody));
}

#[test]
fn account_that_gives_everything_away_keeps_its_nonce_and_existence() {
    let mut world = World::london().funded(CONTRACT, U256::ONE);
    world.run(&[transfer(CONTRACT, 0, BOB)]);
    let account = world.account(CONTRACT).unwrap();
    assert_eq!((account.nonce, account.balance), (1, U256::ZERO));
}

#[test]
fn slot_written_back_to_its_old_value_is_not_a_change() {
    // Stores the call value in slot 1.
    let mut world = World::london().with_contract(CONTRACT, "34600155", &[(1, 7)]);
    let send =
        |nonce, value: u64| legacy(ALICE, TxLegacy { value: U256::from(value), ..tx(nonce, CONTRACT) });
    let outcome = world.run(&[send(0, 9), send(1, 7)]);
    assert!(outcome.diff.accounts[&CONTRACT].storage.is_empty());
    assert_eq!(world.slot(CONTRACT, 1), 7);
}
