//! What the pool takes and what it refuses.

use alloy_consensus::TxLegacy;
use alloy_primitives::{Bytes, TxKind, U256};

use super::{ALICE, BOB, account, add, dynamic, legacy, limits, plain, pool, priced, rules};
use crate::{
    exec::{Fork, RejectReason},
    pool::{Added, Pool, PoolError, PoolLimits, PoolRules, SenderState},
};

fn refusal(tx: TxLegacy) -> PoolError {
    add(&pool(), &legacy(ALICE, tx)).unwrap_err()
}

#[test]
fn free_transaction_is_taken_and_found() {
    let pool = pool();
    let tx = priced(ALICE, 0, 0);
    assert_eq!(add(&pool, &tx).unwrap(), Added { executable: true, replaced: None });
    assert_eq!(pool.get(*tx.inner().tx_hash()), Some(tx));
    assert_eq!(pool.len(), 1);
}

#[test]
fn same_transaction_twice_is_known() {
    let pool = pool();
    add(&pool, &priced(ALICE, 0, 0)).unwrap();
    assert_eq!(add(&pool, &priced(ALICE, 0, 0)), Err(PoolError::AlreadyKnown));
}

#[test]
fn chain_id_must_be_present_and_right() {
    assert_eq!(refusal(TxLegacy { chain_id: Some(1), ..plain(0, 0) }), RejectReason::WrongChainId.into());
    let unprotected = TxLegacy { chain_id: None, ..plain(0, 0) };
    assert_eq!(refusal(unprotected.clone()), RejectReason::MissingChainId.into());
    let lenient = PoolRules { allow_unprotected: true, ..rules() };
    assert!(pool().add(legacy(ALICE, unprotected), account(0), &lenient).is_ok());
}

#[test]
fn dynamic_fees_need_london() {
    let berlin = PoolRules { fork: Fork::Berlin, ..rules() };
    let result = pool().add(dynamic(ALICE, 0, 1, 1), account(0), &berlin);
    assert_eq!(result, Err(RejectReason::UnsupportedType.into()));
}

#[test]
fn tip_above_the_fee_cap_is_refused() {
    assert_eq!(add(&pool(), &dynamic(ALICE, 0, 1, 2)), Err(RejectReason::PriorityAboveMaxFee.into()));
}

#[test]
fn price_beyond_the_nodes_cap_is_refused() {
    let limit = 1_000_000_000_000_000_000;
    assert_eq!(refusal(plain(0, limit + 1)), PoolError::FeeCapExceeded { limit });
}

#[test]
fn gas_limit_must_lie_between_intrinsic_gas_and_the_blocks_limit() {
    let low = RejectReason::IntrinsicGas { required: 21_000, gas_limit: 20_999 };
    assert_eq!(refusal(TxLegacy { gas_limit: 20_999, ..plain(0, 0) }), low.into());
    let high = RejectReason::GasLimitExceedsBlock { gas_limit: 30_000_001, available: 30_000_000 };
    assert_eq!(refusal(TxLegacy { gas_limit: 30_000_001, ..plain(0, 0) }), high.into());
}

#[test]
fn init_code_is_limited_from_shanghai_on() {
    let large = TxLegacy {
        to: TxKind::Create,
        gas_limit: 10_000_000,
        input: Bytes::from(vec![0; 49_153]),
        ..plain(0, 0)
    };
    assert!(add(&pool(), &legacy(ALICE, large.clone())).is_ok());
    let shanghai = PoolRules { fork: Fork::Shanghai, ..rules() };
    let result = pool().add(legacy(ALICE, large), account(0), &shanghai);
    assert_eq!(result, Err(RejectReason::InitCodeTooLarge.into()));
}

#[test]
fn sender_must_be_a_plain_account_that_can_pay() {
    let poor = SenderState { balance: U256::from(20_999), ..account(0) };
    let reason = RejectReason::InsufficientFunds { cost: U256::from(21_000), balance: U256::from(20_999) };
    assert_eq!(pool().add(priced(ALICE, 0, 1), poor, &rules()), Err(reason.into()));
    let contract = SenderState { has_code: true, ..account(0) };
    let result = pool().add(priced(ALICE, 0, 1), contract, &rules());
    assert_eq!(result, Err(RejectReason::SenderHasCode.into()));
}

#[test]
fn used_nonce_is_too_low() {
    let result = pool().add(priced(ALICE, 4, 0), account(5), &rules());
    assert_eq!(result, Err(RejectReason::NonceTooLow { tx: 4, state: 5 }.into()));
}

#[test]
fn nonce_that_the_pool_knows_to_be_used_is_too_low_even_for_a_stale_reader() {
    let pool = pool();
    for nonce in 0..3 {
        add(&pool, &priced(ALICE, nonce, 0)).unwrap();
    }
    pool.on_block(&[(*priced(ALICE, 0, 0)).clone()]);
    assert_eq!(add(&pool, &priced(ALICE, 0, 9)), Err(RejectReason::NonceTooLow { tx: 0, state: 1 }.into()));
}

#[test]
fn nonce_may_lie_200_beyond_the_end_of_the_executable_run() {
    let pool = pool();
    let distant = PoolError::NonceTooDistant { tx: 201, next: 0 };
    assert_eq!(add(&pool, &priced(ALICE, 201, 0)), Err(distant));
    assert_eq!(add(&pool, &priced(ALICE, 200, 0)).unwrap(), Added { executable: false, replaced: None });
    add(&pool, &priced(ALICE, 0, 0)).unwrap();
    assert!(add(&pool, &priced(ALICE, 201, 0)).is_ok());
}

#[test]
fn one_account_may_queue_thousands_of_consecutive_transactions() {
    let pool = pool();
    for nonce in 0..10_000 {
        assert!(add(&pool, &priced(ALICE, nonce, 0)).unwrap().executable);
    }
    assert_eq!(pool.pending_nonce(ALICE), Some(10_000));
    assert_eq!(pool.best(0, usize::MAX).len(), 10_000);
}

#[test]
fn replacement_at_the_same_price_is_taken_without_a_bump() {
    let pool = pool();
    let first = priced(ALICE, 0, 0);
    add(&pool, &first).unwrap();
    let second = legacy(ALICE, TxLegacy { gas_limit: 50_000, ..plain(0, 0) });
    let added = add(&pool, &second).unwrap();
    assert_eq!(added, Added { executable: true, replaced: Some(*first.inner().tx_hash()) });
    assert_eq!(pool.best(0, 9), [second]);
    assert_eq!(pool.len(), 1);
}

#[test]
fn replacement_must_not_lower_fee_cap_or_tip() {
    let pool = pool();
    add(&pool, &dynamic(ALICE, 0, 10, 5)).unwrap();
    assert_eq!(add(&pool, &dynamic(ALICE, 0, 9, 9)), Err(PoolError::ReplacementUnderpriced));
    assert_eq!(add(&pool, &dynamic(ALICE, 0, 11, 4)), Err(PoolError::ReplacementUnderpriced));
    assert!(add(&pool, &dynamic(ALICE, 0, 10, 6)).is_ok());
}

#[test]
fn replacement_must_pay_the_bump_where_there_is_one() {
    let pool = Pool::new(PoolLimits { price_bump_percent: 10, ..limits() });
    add(&pool, &priced(ALICE, 0, 100)).unwrap();
    assert_eq!(add(&pool, &priced(ALICE, 0, 109)), Err(PoolError::ReplacementUnderpriced));
    assert!(add(&pool, &priced(ALICE, 0, 110)).is_ok());
}

#[test]
fn sender_has_a_limit_but_may_fill_its_gaps() {
    let pool = Pool::new(PoolLimits { max_per_sender: 3, ..limits() });
    for nonce in [0, 1, 5] {
        add(&pool, &priced(ALICE, nonce, 0)).unwrap();
    }
    assert_eq!(add(&pool, &priced(ALICE, 6, 0)), Err(PoolError::SenderLimit { limit: 3 }));
    assert!(add(&pool, &priced(ALICE, 2, 0)).unwrap().executable);
    assert_eq!(pool.len(), 3);
    assert_eq!(pool.pending_nonce(ALICE), Some(3));
    assert!(add(&pool, &priced(BOB, 0, 0)).is_ok());
}

#[test]
fn full_pool_prefers_better_paying_newcomers() {
    let pool = Pool::new(PoolLimits { max_transactions: 2, ..limits() });
    let cheap = priced(ALICE, 0, 1);
    add(&pool, &cheap).unwrap();
    add(&pool, &priced(BOB, 0, 2)).unwrap();
    assert_eq!(add(&pool, &priced(BOB, 1, 1)), Err(PoolError::Full));
    assert!(add(&pool, &priced(BOB, 1, 2)).is_ok());
    assert_eq!(pool.get(*cheap.inner().tx_hash()), None);
    assert_eq!(pool.len(), 2);
}

#[test]
fn full_pool_gives_up_waiting_transactions_first() {
    let pool = Pool::new(PoolLimits { max_transactions: 2, ..limits() });
    add(&pool, &priced(ALICE, 7, 9)).unwrap();
    add(&pool, &priced(BOB, 0, 0)).unwrap();
    assert_eq!(add(&pool, &priced(BOB, 9, 0)), Err(PoolError::Full));
    assert!(add(&pool, &priced(BOB, 1, 0)).is_ok());
    assert_eq!(pool.pending_nonce(ALICE), None);
}

#[test]
fn full_pool_does_not_cut_a_run_to_extend_it() {
    let pool = Pool::new(PoolLimits { max_transactions: 2, ..limits() });
    add(&pool, &priced(ALICE, 0, 1)).unwrap();
    add(&pool, &priced(ALICE, 1, 1)).unwrap();
    assert_eq!(add(&pool, &priced(ALICE, 2, 5)), Err(PoolError::Full));
    assert_eq!(pool.pending_nonce(ALICE), Some(2));
}

#[test]
fn memory_is_bounded_too() {
    let large =
        |nonce| TxLegacy { input: Bytes::from(vec![1; 40_000]), gas_limit: 1_000_000, ..plain(nonce, 0) };
    let pool = Pool::new(PoolLimits { max_bytes: 100_000, ..limits() });
    assert!(add(&pool, &legacy(ALICE, large(0))).is_ok());
    assert!(add(&pool, &legacy(ALICE, large(1))).is_ok());
    assert_eq!(add(&pool, &legacy(ALICE, large(2))), Err(PoolError::Full));
    assert!(pool.status().bytes <= 100_000);
    pool.on_block(&[(*legacy(ALICE, large(0))).clone()]);
    assert!(add(&pool, &legacy(ALICE, large(2))).is_ok());
}

#[test]
fn a_sender_without_coin_has_few_places_and_gives_way() {
    let broke = SenderState { balance: U256::ZERO, ..account(0) };
    let pool = Pool::new(PoolLimits { max_transactions: 70, ..limits() });
    for nonce in 0..64 {
        pool.add(priced(ALICE, nonce, 0), broke, &rules()).unwrap();
    }
    let refused = pool.add(priced(ALICE, 64, 0), broke, &rules());
    assert_eq!(refused, Err(PoolError::SenderLimit { limit: 64 }));
    for nonce in 0..70 {
        add(&pool, &priced(BOB, nonce, 0)).unwrap();
    }
    assert_eq!((pool.len(), pool.pending_nonce(ALICE)), (70, None));
    let late = pool.add(priced(ALICE, 0, 0), broke, &rules());
    assert_eq!(late, Err(PoolError::Full), "coin does not give way to none");
}

#[test]
fn price_and_gas_have_bounds_where_the_operator_sets_them() {
    let pool = Pool::new(PoolLimits { min_gas_price: 10, max_transaction_gas: 50_000, ..limits() });
    assert_eq!(add(&pool, &priced(ALICE, 0, 9)), Err(PoolError::PriceBelowMinimum { minimum: 10 }));
    assert_eq!(add(&pool, &dynamic(ALICE, 0, 20, 9)), Err(PoolError::PriceBelowMinimum { minimum: 10 }));
    assert!(add(&pool, &dynamic(ALICE, 0, 20, 10)).is_ok());
    let large = legacy(BOB, TxLegacy { gas_limit: 50_001, ..plain(0, 10) });
    assert_eq!(add(&pool, &large), Err(PoolError::GasAboveCap { gas_limit: 50_001, cap: 50_000 }));
}
