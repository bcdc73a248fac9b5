//! In which order transactions leave the pool, and what a block does to it.

use std::sync::Arc;

use alloy_consensus::TxLegacy;
use alloy_primitives::U256;

use super::{ALICE, BOB, CAROL, account, add, dynamic, legacy, plain, pool, priced, rules};
use crate::{
    block::Transaction,
    pool::{Pool, PoolRules, PoolStatus, SenderState},
};

fn block(transactions: &[&Arc<Transaction>]) -> Vec<Transaction> {
    transactions.iter().map(|tx| (***tx).clone()).collect()
}

fn filled(transactions: &[&Arc<Transaction>]) -> Pool {
    let pool = pool();
    for tx in transactions {
        add(&pool, tx).unwrap();
    }
    pool
}

#[test]
fn best_goes_by_tip_then_arrival_and_keeps_nonce_order() {
    let (a0, a1) = (priced(ALICE, 0, 1), priced(ALICE, 1, 9));
    let (b0, c0) = (priced(BOB, 0, 5), priced(CAROL, 0, 1));
    let pool = filled(&[&a1, &a0, &c0, &b0]);
    assert_eq!(pool.best(0, 9), [b0.clone(), a0, a1, c0]);
    assert_eq!(pool.best(0, 1), [b0]);
}

#[test]
fn equal_prices_go_by_arrival_across_senders() {
    let all =
        [priced(BOB, 0, 0), priced(ALICE, 0, 0), priced(BOB, 1, 0), priced(CAROL, 0, 0), priced(ALICE, 1, 0)];
    let pool = filled(&all.each_ref());
    assert_eq!(pool.best(0, 9), all);
}

#[test]
fn transactions_behind_a_gap_wait_until_it_is_filled() {
    let (first, third) = (priced(ALICE, 0, 0), priced(ALICE, 2, 0));
    let pool = filled(&[&first, &third]);
    assert_eq!(pool.best(0, 9), std::slice::from_ref(&first));
    assert_eq!(pool.pending_nonce(ALICE), Some(1));
    let second = priced(ALICE, 1, 0);
    add(&pool, &second).unwrap();
    assert_eq!(pool.best(0, 9), [first, second, third]);
    assert_eq!(pool.pending_nonce(ALICE), Some(3));
}

#[test]
fn transactions_below_the_base_fee_wait_until_it_falls() {
    let (low, high) = (dynamic(ALICE, 0, 5, 5), dynamic(BOB, 0, 20, 1));
    let pool = filled(&[&low, &high]);
    assert_eq!(pool.best(10, 9), std::slice::from_ref(&high));
    assert_eq!(pool.best(4, 9), [low.clone(), high.clone()]);
    assert_eq!(pool.best(0, 9), [low, high]);
}

#[test]
fn base_fee_of_the_rules_takes_effect_at_once() {
    let pool = filled(&[&dynamic(ALICE, 0, 5, 5)]);
    pool.add(priced(BOB, 0, 11), account(0), &PoolRules { base_fee: 10, ..rules() }).unwrap();
    assert_eq!(pool.best(10, 9).len(), 1);
}

#[test]
fn block_removes_its_transactions_and_their_rivals() {
    let (mined, rival) = (priced(ALICE, 0, 3), priced(ALICE, 0, 4));
    let next = priced(ALICE, 1, 0);
    let pool = filled(&[&rival, &next]);
    pool.on_block(&block(&[&mined]));
    assert_eq!(pool.best(0, 9), [next]);
    assert_eq!(pool.get(*rival.inner().tx_hash()), None);
}

#[test]
fn block_lets_followers_in() {
    let follower = priced(ALICE, 1, 0);
    let pool = filled(&[&follower]);
    assert!(pool.best(0, 9).is_empty());
    pool.on_block(&block(&[&priced(ALICE, 0, 0)]));
    assert_eq!(pool.best(0, 9), [follower]);
}

#[test]
fn block_of_strangers_changes_nothing() {
    let tx = priced(ALICE, 0, 0);
    let pool = filled(&[&tx]);
    pool.on_block(&block(&[&priced(BOB, 0, 0)]));
    assert_eq!(pool.best(0, 9), [tx]);
}

#[test]
fn newer_account_nonce_of_a_caller_is_taken_over() {
    let pool = filled(&[&priced(ALICE, 0, 0)]);
    let tx = priced(ALICE, 1, 0);
    assert!(pool.add(tx.clone(), account(1), &rules()).unwrap().executable);
    assert_eq!(pool.best(0, 9), [tx]);
}

#[test]
fn removed_transaction_leaves_a_gap() {
    let (first, second) = (priced(ALICE, 0, 0), priced(ALICE, 1, 0));
    let pool = filled(&[&first, &second]);
    assert_eq!(pool.remove(*first.inner().tx_hash()), Some(first.clone()));
    assert!(pool.best(0, 9).is_empty());
    assert_eq!(pool.pending_nonce(ALICE), Some(0));
    add(&pool, &first).unwrap();
    assert_eq!(pool.best(0, 9), [first, second]);
}

#[test]
fn after_a_revert_the_accounts_nonces_count() {
    let (first, second) = (priced(ALICE, 0, 0), priced(ALICE, 1, 0));
    let pool = filled(&[&first, &second]);
    pool.on_block(&block(&[&first]));
    assert_eq!(pool.best(0, 9), std::slice::from_ref(&second));
    pool.on_revert(|_| 0);
    assert!(pool.best(0, 9).is_empty());
    add(&pool, &first).unwrap();
    assert_eq!(pool.best(0, 9), [first, second]);
}

#[test]
fn content_and_status_tell_executable_from_waiting() {
    let (first, third) = (priced(ALICE, 0, 0), priced(ALICE, 2, 0));
    let pool = filled(&[&third, &first, &priced(BOB, 0, 0)]);
    let content: Vec<_> = pool.content().into_iter().map(|pooled| pooled.executable).collect();
    assert_eq!(content, [true, false, true]);
    let of_alice = pool.content_of(ALICE);
    assert_eq!(of_alice.iter().map(|pooled| &pooled.transaction).collect::<Vec<_>>(), [&first, &third]);
    assert!(matches!(pool.status(), PoolStatus { executable: 2, waiting: 1, .. }));
    pool.clear();
    assert_eq!(pool.status(), PoolStatus::default());
}

#[test]
fn at_equal_tips_funded_senders_and_little_gas_go_first() {
    let pool = pool();
    let poor = SenderState { balance: U256::ZERO, ..account(0) };
    let heavy = |sender| legacy(sender, TxLegacy { gas_limit: 5_000_000, ..plain(0, 0) });
    let (free, large, small) = (priced(ALICE, 0, 0), heavy(BOB), priced(CAROL, 0, 0));
    pool.add(free.clone(), poor, &rules()).unwrap();
    add(&pool, &large).unwrap();
    add(&pool, &small).unwrap();
    assert_eq!(pool.best(0, 9), [small.clone(), large.clone(), free.clone()]);
    // Whoever pays goes before all of them.
    let paying = priced(BOB, 0, 1);
    add(&pool, &paying).unwrap();
    assert_eq!(pool.best(0, 9), [paying, small, free]);
}
