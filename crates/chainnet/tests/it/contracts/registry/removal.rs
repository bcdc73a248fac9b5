//! Removal by an admin: whom it takes, and what stays theirs.

use alloy_primitives::U256;
use contracts::{address::REGISTRY, bindings::PlatformValidatorRegistry as Registry};

use super::{ACTIVE, DOWNTIME, INACTIVE, NONE, REMOVED, SLASHED, not_approved, wrong_status};
use crate::contracts::{
    chain::{DAY, STAKE, TestChain},
    outcome::log,
    person::{Person, STRANGER},
};

const REMOVEE: Person = Person::Validator(0);

fn removed() -> alloy_primitives::LogData {
    let (operator, reason) = (REMOVEE.address(), "rules".to_owned());
    log(&Registry::ValidatorRemoved { operator, status: REMOVED, reason })
}

#[tokio::test]
async fn a_clean_active_validator_or_a_stranger_is_not_removed() {
    let mut chain = TestChain::start().await;
    let clean = Registry::ValidatorRegistryNotRemovable { operator: REMOVEE.address() };
    chain.remove(REMOVEE).await.reverts_with(clean);
    chain.remove(STRANGER).await.reverts_with(wrong_status(STRANGER, NONE));
    assert_eq!(chain.status(REMOVEE).await, ACTIVE);
}

#[tokio::test]
async fn a_jailed_validator_is_removed_and_withdraws_the_rest_after_seven_days() {
    let mut chain = TestChain::start().await;
    let _ = chain.slash(REMOVEE, DOWNTIME).await.succeeds();
    chain.wait(DAY).await;
    let _ = chain.remove(REMOVEE).await.emits(REGISTRY, [removed()]);
    let (record, until) = (chain.validator(REMOVEE).await, chain.now().await + 7 * DAY);
    assert_eq!((record.status, record.jailedUntil, record.withdrawableAt), (REMOVED, 0, until));
    assert_eq!(chain.open_slots().await, 1);
    let penalty = STAKE / U256::from(100);
    assert_eq!(chain.books().await, [STAKE * U256::from(4), STAKE - penalty, U256::ZERO, penalty]);

    chain.remove(REMOVEE).await.reverts_with(wrong_status(REMOVEE, REMOVED));
    chain.unjail(REMOVEE).await.reverts_with(wrong_status(REMOVEE, REMOVED));
    let locked = Registry::ValidatorRegistryStakeLocked { operator: REMOVEE.address(), until };
    chain.withdraw(REMOVEE).await.reverts_with(locked);
    chain.next_block_at(until).await;
    let _ = chain.withdraw(REMOVEE).await.succeeds();
    assert_eq!(chain.balance(REMOVEE.address()).await, STAKE - penalty);
    assert_eq!(chain.status(REMOVEE).await, REMOVED);
}

#[tokio::test]
async fn an_active_validator_that_was_slashed_before_is_removed() {
    let mut chain = TestChain::start().await;
    let _ = chain.slash(REMOVEE, DOWNTIME).await.succeeds();
    chain.wait(7 * DAY).await;
    let _ = chain.unjail(REMOVEE).await.succeeds();
    let _ = chain.remove(REMOVEE).await.emits(REGISTRY, [removed()]);
    assert_eq!(chain.open_slots().await, 1);
}

#[tokio::test]
async fn one_who_left_is_removed_without_a_longer_wait() {
    let mut chain = TestChain::start().await;
    let _ = chain.exit(REMOVEE).await.succeeds();
    assert_eq!(chain.status(REMOVEE).await, INACTIVE);
    let until = chain.validator(REMOVEE).await.withdrawableAt;
    chain.wait(DAY).await;
    let _ = chain.remove(REMOVEE).await.emits(REGISTRY, [removed()]);
    assert_eq!(chain.validator(REMOVEE).await.withdrawableAt, until);
    assert_eq!(chain.open_slots().await, 1, "the slot is not freed twice");
    chain.next_block_at(until).await;
    let _ = chain.withdraw(REMOVEE).await.succeeds();
    assert_eq!(chain.balance(REMOVEE.address()).await, STAKE);
}

#[tokio::test]
async fn a_removed_validator_comes_back_with_approval_only_and_its_next_slash_is_the_last() {
    let mut chain = TestChain::start().await;
    let _ = chain.expand(2).await.succeeds();
    for _ in 0..3 {
        let _ = chain.slash(REMOVEE, DOWNTIME).await.succeeds();
    }
    assert_eq!(chain.status(REMOVEE).await, SLASHED);
    let _ = chain.remove(REMOVEE).await.emits(REGISTRY, [removed()]);
    chain.fund(REMOVEE, STAKE).await;
    chain.wait(7 * DAY).await;
    chain.register(REMOVEE).await.reverts_with(wrong_status(REMOVEE, REMOVED));
    let _ = chain.withdraw(REMOVEE).await.succeeds();
    chain.register(REMOVEE).await.reverts_with(not_approved(REMOVEE));

    let _ = chain.approve(REMOVEE, true).await.succeeds();
    let _ = chain.register(REMOVEE).await.succeeds();
    let record = chain.validator(REMOVEE).await;
    assert_eq!((record.status, record.slashCount), (ACTIVE, 3));
    let _ = chain.slash(REMOVEE, DOWNTIME).await.succeeds();
    let record = chain.validator(REMOVEE).await;
    assert_eq!((record.status, record.slashCount), (SLASHED, 3));
}
