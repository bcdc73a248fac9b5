//! Calls, estimates and access lists.

use alloy_primitives::{Address, B256, Bytes, U256, hex, map::HashMap};
use alloy_rpc_types_eth::{
    BlockOverrides, TransactionInput, TransactionRequest,
    state::{AccountOverride, StateOverridesBuilder},
};

use super::{ALICE, BOB, CONTRACT, ETHER, GAS_LIMIT, World};
use crate::exec::{
    CallOutcome, EstimateError, ExecError, HaltReason, RejectReason, call, create_access_list, estimate_gas,
};

/// Returns the word that the code before it leaves on the stack.
const RETURN_WORD: &str = "600052 60206000f3";

fn to(address: Address) -> TransactionRequest {
    TransactionRequest::default().from(ALICE).to(address)
}

fn returned(outcome: CallOutcome) -> U256 {
    match outcome {
        CallOutcome::Success { output, .. } => U256::from_be_slice(&output),
        other => panic!("{other:?}"),
    }
}

fn rejection<T: std::fmt::Debug>(result: Result<T, ExecError>) -> RejectReason {
    match result {
        Err(ExecError::Rejected(reason)) => reason,
        other => panic!("{other:?}"),
    }
}

#[test]
fn call_returns_what_the_contract_returns_and_its_logs() {
    let world = World::london().with_code(CONTRACT, &format!("60aa60006000a1 602a {RETURN_WORD}"));
    match call(world.call_context(), &to(CONTRACT), None, None).unwrap() {
        CallOutcome::Success { output, logs, .. } => {
            assert_eq!(U256::from_be_slice(&output), U256::from(0x2a));
            assert_eq!(logs.len(), 1);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn call_tells_revert_and_halt_apart() {
    let world = World::london().with_code(CONTRACT, "60206000fd").with_code(BOB, "fe");
    let reverted = call(world.call_context(), &to(CONTRACT), None, None).unwrap();
    assert!(matches!(reverted, CallOutcome::Revert { output, .. } if output.len() == 32));
    let halted = call(world.call_context(), &to(BOB), None, None).unwrap();
    assert!(matches!(halted, CallOutcome::Halt { reason: HaltReason::InvalidFEOpcode, .. }));
}

#[test]
fn call_needs_neither_funds_nor_nonce_nor_an_account() {
    let world = World::london().with_code(CONTRACT, &format!("33 {RETURN_WORD}"));
    let mut request = to(CONTRACT).nonce(99);
    request.from = Some(Address::repeat_byte(0x99));
    let expected = U256::from_be_slice(Address::repeat_byte(0x99).as_slice());
    assert_eq!(returned(call(world.call_context(), &request, None, None).unwrap()), expected);
    request.from = None;
    assert_eq!(returned(call(world.call_context(), &request, None, None).unwrap()), U256::ZERO);
    // EIP-3607 does not apply: a contract may be the caller.
    request.from = Some(CONTRACT);
    assert!(call(world.call_context(), &request, None, None).is_ok());
}

#[test]
fn call_without_price_sees_no_base_fee_and_with_price_pays_it() {
    let mut world = World::london().with_code(CONTRACT, &format!("48 {RETURN_WORD}"));
    world.header.base_fee_per_gas = Some(7);
    assert_eq!(returned(call(world.call_context(), &to(CONTRACT), None, None).unwrap()), U256::ZERO);
    let priced = to(CONTRACT).gas_price(8).gas_limit(100_000);
    assert_eq!(returned(call(world.call_context(), &priced, None, None).unwrap()), U256::from(7));
    let low = rejection(call(world.call_context(), &to(CONTRACT).gas_price(6), None, None));
    assert_eq!(low, RejectReason::FeeBelowBaseFee { base_fee: 7 });
}

#[test]
fn call_must_cover_value_and_any_price_it_names() {
    let world = World::london();
    let value = to(BOB).value(ETHER + U256::ONE);
    let reason = rejection(call(world.call_context(), &value, None, None));
    assert_eq!(reason, RejectReason::InsufficientFunds { cost: ETHER + U256::ONE, balance: ETHER });
    let priced = to(BOB).gas_price(ETHER.to()).gas_limit(50_000);
    let reason = rejection(call(world.call_context(), &priced, None, None));
    assert!(matches!(reason, RejectReason::InsufficientFunds { .. }));
}

#[test]
fn call_refuses_two_kinds_of_fee() {
    let both = to(BOB).gas_price(1).max_fee_per_gas(1);
    assert!(matches!(
        call(World::london().call_context(), &both, None, None),
        Err(ExecError::ConflictingFees)
    ));
}

#[test]
fn gas_of_a_call_is_capped() {
    let world = World::london().with_code(CONTRACT, &format!("5a {RETURN_WORD}"));
    let seen = returned(call(world.call_context(), &to(CONTRACT).gas_limit(u64::MAX), None, None).unwrap());
    assert!(seen < U256::from(GAS_LIMIT));
}

#[test]
fn account_overrides_change_balance_nonce_code_and_storage() {
    // Slot 1, slot 2 and the balance, added up
    let code = hex::decode("600154 600254 01 47 01 600052 60206000f3".replace(' ', "")).unwrap();
    let world = World::london().with_contract(CONTRACT, "00", &[(1, 10), (2, 20)]);
    let overridden = |account: AccountOverride| {
        let overrides = StateOverridesBuilder::default().append(CONTRACT, account).build();
        returned(call(world.call_context(), &to(CONTRACT), Some(&overrides), None).unwrap())
    };
    let code = Some(Bytes::from(code));
    let slot = || Some(HashMap::from_iter([(B256::with_last_byte(1), B256::with_last_byte(5))]));
    assert_eq!(overridden(AccountOverride { code: code.clone(), ..Default::default() }), U256::from(30));
    let balance = Some(U256::from(100));
    assert_eq!(
        overridden(AccountOverride { code: code.clone(), balance, ..Default::default() }),
        U256::from(130)
    );
    let diff = AccountOverride { code: code.clone(), state_diff: slot(), ..Default::default() };
    assert_eq!(overridden(diff), U256::from(25));
    assert_eq!(overridden(AccountOverride { code, state: slot(), ..Default::default() }), U256::from(5));
}

#[test]
fn overridden_nonce_decides_the_address_of_a_creation() {
    let world = World::london();
    // Returns its own address: ADDRESS
    let request = TransactionRequest::default()
        .from(ALICE)
        .input(TransactionInput::new(hex!("30 600052 60206000f3").into()));
    let overrides = StateOverridesBuilder::default().with_nonce(ALICE, 9).build();
    let address = returned(call(world.call_context(), &request, Some(&overrides), None).unwrap());
    assert_eq!(address, U256::from_be_slice(ALICE.create(9).as_slice()));
}

#[test]
fn override_with_state_and_state_diff_is_refused() {
    let account = AccountOverride {
        state: Some(HashMap::default()),
        state_diff: Some(HashMap::default()),
        ..Default::default()
    };
    let overrides = StateOverridesBuilder::default().append(CONTRACT, account).build();
    let result = call(World::london().call_context(), &to(CONTRACT), Some(&overrides), None);
    assert!(matches!(result, Err(ExecError::ConflictingOverride(CONTRACT))));
}

#[test]
fn block_overrides_change_what_the_block_looks_like() {
    let overrides = BlockOverrides {
        number: Some(U256::from(500)),
        time: Some(777),
        coinbase: Some(BOB),
        block_hash: Some([(499, B256::repeat_byte(9))].into()),
        ..BlockOverrides::default()
    };
    let seen = |code: &str| {
        let world = World::london().with_code(CONTRACT, &format!("{code}{RETURN_WORD}"));
        returned(call(world.call_context(), &to(CONTRACT), None, Some(&overrides)).unwrap())
    };
    assert_eq!(seen("43"), U256::from(500));
    assert_eq!(seen("42"), U256::from(777));
    assert_eq!(seen("41"), U256::from_be_slice(BOB.as_slice()));
    assert_eq!(seen("6001430340"), U256::from_be_bytes([9; 32]));
}

#[test]
fn estimate_of_a_transfer_is_21000() {
    let world = World::london();
    assert_eq!(estimate_gas(world.call_context(), &to(BOB).value(U256::ONE), None).unwrap(), 21_000);
}

#[test]
fn estimate_is_the_smallest_limit_that_works() {
    // Stores a word, then calls itself's neighbour, which stores too: the 64th kept back matters.
    let inner = "6001600055";
    let outer =
        format!("60016000556000600060006000600073{}61fffff1 15 601d 57 00 5b 60006000fd", hex::encode(BOB));
    let outer = outer.replace("61fffff1", "5af1");
    let jump = outer.replace(' ', "").find("5b60006000fd").unwrap() / 2;
    let outer = outer.replace("601d", &format!("60{jump:02x}"));
    let world = World::london().with_code(CONTRACT, &outer).with_code(BOB, inner);
    let estimate = estimate_gas(world.call_context(), &to(CONTRACT), None).unwrap();
    let run = |gas| call(world.call_context(), &to(CONTRACT).gas_limit(gas), None, None).unwrap();
    assert!(matches!(run(estimate), CallOutcome::Success { .. }));
    assert!(!matches!(run(estimate - 1), CallOutcome::Success { .. }));
}

#[test]
fn estimate_covers_gas_that_is_refunded_later() {
    let world = World::london().with_contract(CONTRACT, "6000600155", &[(1, 7)]);
    let estimate = estimate_gas(world.call_context(), &to(CONTRACT), None).unwrap();
    assert_eq!(estimate, 26_006);
}

#[test]
fn estimate_tells_failures_apart() {
    let world = World::london()
        .with_code(CONTRACT, "60206000fd")
        .with_code(BOB, "5b600056")
        .with_code(Address::repeat_byte(1), "fe");
    let fail = |request: TransactionRequest| estimate_gas(world.call_context(), &request, None).unwrap_err();
    assert!(matches!(fail(to(CONTRACT)), EstimateError::Revert { output } if output.len() == 32));
    assert!(matches!(fail(to(BOB)), EstimateError::OutOfGas { allowance: GAS_LIMIT }));
    assert!(matches!(
        fail(to(Address::repeat_byte(1))),
        EstimateError::Halt { reason: HaltReason::InvalidFEOpcode }
    ));
    assert!(matches!(
        fail(to(ALICE).value(ETHER * U256::from(2))),
        EstimateError::Exec(ExecError::Rejected(RejectReason::InsufficientFunds { .. }))
    ));
    assert!(matches!(
        fail(to(ALICE).gas_limit(20_000)),
        EstimateError::Exec(ExecError::Rejected(RejectReason::IntrinsicGas { .. }))
    ));
}

#[test]
fn estimate_stays_within_what_the_sender_can_pay() {
    let world = World::london().with_code(CONTRACT, "5b600056").funded(ALICE, U256::from(1_000_000));
    let error = estimate_gas(world.call_context(), &to(CONTRACT).gas_price(10), None).unwrap_err();
    assert!(matches!(error, EstimateError::OutOfGas { allowance: 100_000 }));
}

#[test]
fn access_list_names_what_the_call_touches_but_not_its_ends() {
    // SLOAD(1) POP BALANCE(0x1234) POP
    let world = World::london().with_code(CONTRACT, "60015450 6112343150");
    let result = create_access_list(world.call_context(), &to(CONTRACT)).unwrap();
    let list = result.access_list.0;
    assert_eq!(list.len(), 2);
    assert!(
        list.iter().any(|item| item.address == CONTRACT && item.storage_keys == [B256::with_last_byte(1)])
    );
    let other = Address::left_padding_from(&[0x12, 0x34]);
    assert!(list.iter().any(|item| item.address == other && item.storage_keys.is_empty()));
    assert_eq!(result.gas_used, U256::from(21_000 + 2 * 2_400 + 1_900 + 3 + 100 + 2 + 3 + 100 + 2));
    assert_eq!(result.error, None);
}

#[test]
fn access_list_of_a_failing_call_says_so() {
    let world = World::london().with_code(CONTRACT, "60015450 60006000fd");
    let result = create_access_list(world.call_context(), &to(CONTRACT)).unwrap();
    assert_eq!(result.access_list.0.len(), 1);
    assert!(result.error.is_some());
}
