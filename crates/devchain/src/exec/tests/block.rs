//! Whole blocks: receipts, fees, rewards, refunds and what makes a block invalid.

use alloy_consensus::{
    Receipt as ConsensusReceipt, ReceiptEnvelope, TxEip1559, TxLegacy, proofs::calculate_receipt_root,
};
use alloy_eips::eip2930::{AccessList, AccessListItem};
use alloy_primitives::{Address, B256, BloomInput, Bytes, TxKind, U256, hex};

use super::{
    ALICE, BOB, CONTRACT, ETHER, GAS_LIMIT, PROPOSER, World, call_of, dynamic, legacy, transfer, tx,
};
use crate::{
    block::Transaction,
    exec::{ExecError, RejectReason, receipts_root, transactions_root},
};

fn reject(world: &World, tx: Transaction) -> RejectReason {
    match world.try_run(&[transfer(BOB, 0, ALICE), tx]) {
        Err(ExecError::InvalidTransaction { index: 1, reason, .. }) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn transfers_move_money_and_count_nonces() {
    let mut world = World::london();
    let outcome = world.run(&[transfer(ALICE, 0, BOB), transfer(ALICE, 1, BOB)]);
    assert_eq!(outcome.gas_used, 42_000);
    assert_eq!(outcome.receipts[1].cumulative_gas_used, 42_000);
    assert_eq!(world.account(ALICE).unwrap().nonce, 2);
    assert_eq!(world.account(BOB).unwrap().balance, ETHER + U256::from(2));
}

#[test]
fn same_block_gives_the_same_outcome_again() {
    let world = World::london().with_code(CONTRACT, "34600155");
    let block = [transfer(ALICE, 0, BOB), call_of(BOB, 0, CONTRACT)];
    assert_eq!(world.try_run(&block).unwrap(), world.try_run(&block).unwrap());
}

#[test]
fn clearing_a_slot_refunds_at_most_a_fifth() {
    // PUSH1 0 PUSH1 1 SSTORE
    let mut world = World::london().with_contract(CONTRACT, "6000600155", &[(1, 7)]);
    let outcome = world.run(&[call_of(ALICE, 0, CONTRACT)]);
    assert_eq!(outcome.gas_used, 21_000 + 6 + 5_000 - 4_800);
    // Two slots: 9,600 exceed a fifth of 31,012.
    let mut world = World::london().with_contract(CONTRACT, "60006001556000600255", &[(1, 7), (2, 7)]);
    let outcome = world.run(&[call_of(ALICE, 0, CONTRACT)]);
    assert_eq!(outcome.gas_used, 31_012 - 31_012 / 5);
}

#[test]
fn reverted_transaction_keeps_its_reason_and_changes_only_the_sender() {
    // MSTORE(0, 0x2a) REVERT(0, 32), after an SSTORE
    let mut world = World::london().with_code(CONTRACT, "6001600055 602a600052 60206000fd");
    let outcome = world.run(&[call_of(ALICE, 0, CONTRACT)]);
    let receipt = &outcome.receipts[0];
    assert!(!receipt.success);
    assert_eq!(receipt.revert_reason, Some(Bytes::from(U256::from(0x2a).to_be_bytes_vec())));
    assert_eq!(outcome.diff.accounts.keys().copied().collect::<Vec<_>>(), [ALICE]);
}

#[test]
fn halted_transaction_uses_all_its_gas() {
    let mut world = World::london().with_code(CONTRACT, "fe");
    let outcome = world.run(&[call_of(ALICE, 0, CONTRACT)]);
    assert_eq!(outcome.gas_used, 1_000_000);
    assert_eq!(outcome.receipts[0].revert_reason, None);
    assert!(!outcome.receipts[0].success);
}

#[test]
fn logs_reach_receipt_bloom_and_block_bloom() {
    // LOG1(0, 32, 0xaa)
    let mut world = World::london().with_code(CONTRACT, "60aa60206000a1");
    let outcome = world.run(&[transfer(BOB, 0, ALICE), call_of(ALICE, 0, CONTRACT)]);
    let receipt = &outcome.receipts[1];
    assert_eq!(receipt.logs.len(), 1);
    assert_eq!(receipt.logs[0].address, CONTRACT);
    assert_eq!(receipt.logs[0].topics(), [B256::with_last_byte(0xaa)]);
    assert!(receipt.bloom().contains_input(BloomInput::Raw(CONTRACT.as_slice())));
    assert_eq!(outcome.bloom, receipt.bloom());
    assert!(outcome.receipts[0].bloom().is_zero());
}

#[test]
fn receipts_root_is_that_of_consensus_receipts() {
    let mut world = World::london().with_code(CONTRACT, "60aa60206000a1");
    let typed = TxEip1559 {
        chain_id: 1337,
        nonce: 1,
        gas_limit: 90_000,
        to: CONTRACT.into(),
        ..TxEip1559::default()
    };
    let outcome = world.run(&[call_of(ALICE, 0, CONTRACT), dynamic(ALICE, typed), transfer(BOB, 0, ALICE)]);
    let expected: Vec<ReceiptEnvelope> = outcome
        .receipts
        .iter()
        .map(|receipt| {
            let consensus = ConsensusReceipt {
                status: receipt.success.into(),
                cumulative_gas_used: receipt.cumulative_gas_used,
                logs: receipt.logs.clone(),
            };
            ReceiptEnvelope::from_typed(receipt.tx_type.try_into().unwrap(), consensus)
        })
        .collect();
    assert_eq!(receipts_root(&outcome.receipts), calculate_receipt_root(&expected));
}

#[test]
fn roots_of_an_empty_block_are_the_empty_trie() {
    assert_eq!(receipts_root(&[]), alloy_trie::EMPTY_ROOT_HASH);
    assert_eq!(transactions_root(&[]), alloy_trie::EMPTY_ROOT_HASH);
}

#[test]
fn creation_reports_its_address_and_stores_its_code() {
    // Init code that returns the two bytes 0x33ff.
    let deploy = TxLegacy { input: hex!("6133ff600052 6002601ef3").into(), ..tx(0, TxKind::Create) };
    let mut world = World::london();
    let outcome = world.run(&[legacy(ALICE, deploy)]);
    let address = outcome.receipts[0].contract_address.unwrap();
    assert_eq!(address, ALICE.create(0));
    let account = world.account(address).unwrap();
    assert_eq!(world.state.code(account.code_hash).unwrap().as_ref(), hex!("33ff"));
    assert_eq!(outcome.diff.code.len(), 1);
}

#[test]
fn failed_creation_reports_the_address_it_would_have_had() {
    let deploy = TxLegacy { input: hex!("60006000fd").into(), ..tx(0, TxKind::Create) };
    let mut world = World::london();
    let receipt = world.run(&[legacy(ALICE, deploy)]).receipts.remove(0);
    assert!(!receipt.success);
    assert_eq!(receipt.contract_address, Some(ALICE.create(0)));
    assert_eq!(world.account(ALICE.create(0)), None);
}

#[test]
fn base_fee_is_burnt_and_the_tip_goes_to_the_beneficiary() {
    let mut world = World::london();
    world.header.base_fee_per_gas = Some(7);
    let paid = TxEip1559 {
        chain_id: 1337,
        gas_limit: 21_000,
        to: BOB.into(),
        max_fee_per_gas: 100,
        max_priority_fee_per_gas: 3,
        ..TxEip1559::default()
    };
    world.run(&[dynamic(ALICE, paid)]);
    assert_eq!(world.account(PROPOSER).unwrap().balance, U256::from(21_000 * 3));
    assert_eq!(world.account(ALICE).unwrap().balance, ETHER - U256::from(21_000 * 10));
}

#[test]
fn fees_and_reward_go_to_the_mining_beneficiary_if_there_is_one() {
    let treasury = Address::repeat_byte(0x77);
    let mut world = World::london();
    world.spec.mining_beneficiary = Some(treasury);
    world.spec.block_reward = U256::from(50);
    world.run(&[legacy(ALICE, TxLegacy { gas_price: 2, gas_limit: 21_000, ..tx(0, BOB) })]);
    assert_eq!(world.account(treasury).unwrap().balance, U256::from(42_050));
    assert_eq!(world.account(PROPOSER), None);
}

#[test]
fn empty_block_changes_nothing_without_a_reward() {
    let world = World::london();
    assert_eq!(world.try_run::<Transaction>(&[]).unwrap().diff, crate::state::StateDiff::default());
}

#[test]
fn block_with_a_transaction_out_of_order_is_invalid() {
    let world = World::london();
    assert_eq!(reject(&world, transfer(ALICE, 1, BOB)), RejectReason::NonceTooHigh { tx: 1, state: 0 });
    assert_eq!(reject(&world, transfer(BOB, 0, ALICE)), RejectReason::NonceTooLow { tx: 0, state: 1 });
}

#[test]
fn block_with_more_gas_than_its_limit_is_invalid() {
    let greedy = legacy(ALICE, TxLegacy { gas_limit: GAS_LIMIT - 20_999, ..tx(0, BOB) });
    let expected =
        RejectReason::GasLimitExceedsBlock { gas_limit: GAS_LIMIT - 20_999, available: GAS_LIMIT - 21_000 };
    assert_eq!(reject(&World::london(), greedy), expected);
    let fitting = legacy(ALICE, TxLegacy { gas_limit: GAS_LIMIT - 21_000, ..tx(0, BOB) });
    assert!(World::london().try_run(&[transfer(BOB, 0, ALICE), fitting]).is_ok());
}

#[test]
fn sender_must_afford_value_and_highest_fee() {
    let priced = TxLegacy { gas_price: 5, gas_limit: 21_000, value: ETHER, ..tx(0, BOB) };
    let cost = ETHER + U256::from(105_000);
    assert_eq!(
        reject(&World::london(), legacy(ALICE, priced)),
        RejectReason::InsufficientFunds { cost, balance: ETHER + U256::ONE }
    );
}

#[test]
fn intrinsic_gas_must_be_covered() {
    let cheap = TxLegacy { gas_limit: 21_015, input: hex!("ff").into(), ..tx(0, BOB) };
    assert_eq!(
        reject(&World::london(), legacy(ALICE, cheap)),
        RejectReason::IntrinsicGas { required: 21_016, gas_limit: 21_015 }
    );
}

#[test]
fn price_must_reach_the_base_fee() {
    let mut world = World::london();
    world.header.base_fee_per_gas = Some(7);
    let low = legacy(ALICE, TxLegacy { gas_price: 6, gas_limit: 21_000, ..tx(0, BOB) });
    match world.try_run(&[low]) {
        Err(ExecError::InvalidTransaction { reason, .. }) => {
            assert_eq!(reason, RejectReason::FeeBelowBaseFee { base_fee: 7 });
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn priority_fee_must_not_exceed_the_fee_cap() {
    let odd = TxEip1559 {
        chain_id: 1337,
        gas_limit: 21_000,
        to: BOB.into(),
        max_fee_per_gas: 1,
        max_priority_fee_per_gas: 2,
        ..TxEip1559::default()
    };
    assert_eq!(reject(&World::london(), dynamic(ALICE, odd)), RejectReason::PriorityAboveMaxFee);
}

#[test]
fn contracts_do_not_send_transactions() {
    let world = World::london().with_code(CONTRACT, "00");
    assert_eq!(reject(&world, legacy(CONTRACT, tx(1, BOB))), RejectReason::SenderHasCode);
}

#[test]
fn chain_id_must_match_but_may_be_absent() {
    let foreign = legacy(ALICE, TxLegacy { chain_id: Some(1), ..tx(0, BOB) });
    assert_eq!(reject(&World::london(), foreign), RejectReason::WrongChainId);
    let unprotected = legacy(ALICE, TxLegacy { chain_id: None, ..tx(0, BOB) });
    assert!(World::london().try_run(&[unprotected]).is_ok());
}

#[test]
fn dynamic_fee_transactions_need_london() {
    let mut world = World::london();
    world.spec.london_block = 5;
    let typed = TxEip1559 { chain_id: 1337, gas_limit: 21_000, to: BOB.into(), ..TxEip1559::default() };
    assert_eq!(reject(&world, dynamic(ALICE, typed)), RejectReason::UnsupportedType);
}

#[test]
fn access_list_is_charged_and_warms() {
    // SLOAD(1) POP
    let mut world = World::london().with_code(CONTRACT, "60015450");
    let item = AccessListItem { address: CONTRACT, storage_keys: vec![B256::with_last_byte(1)] };
    let listed = TxEip1559 {
        chain_id: 1337,
        gas_limit: 100_000,
        to: CONTRACT.into(),
        access_list: AccessList(vec![item]),
        ..TxEip1559::default()
    };
    let outcome = world.run(&[dynamic(ALICE, listed)]);
    assert_eq!(outcome.gas_used, 21_000 + 2_400 + 1_900 + 3 + 100 + 2);
}
