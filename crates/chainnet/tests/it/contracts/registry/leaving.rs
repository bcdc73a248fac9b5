//! Leaving by own request, and taking the stake back.

use alloy_primitives::{Address, U256};
use contracts::{address::REGISTRY, bindings::PlatformValidatorRegistry as Registry};

use super::{ACTIVE, DOWNTIME, INACTIVE, JAILED, NONE, not_approved, wrong_status};
use crate::contracts::{
    chain::{DAY, STAKE, TestChain},
    outcome::log,
    person::{Person, STRANGER},
};

const LEAVER: Person = Person::Validator(2);

#[tokio::test]
async fn leaving_frees_the_slot_at_once_and_locks_the_stake_for_seven_days() {
    let mut chain = TestChain::start().await;
    let outcome = chain.exit(LEAVER).await;
    let (operator, until) = (LEAVER.address(), chain.now().await + 7 * DAY);
    let asked = Registry::ExitRequested { operator, stake: STAKE, withdrawableAt: until };
    let _ = outcome.emits(REGISTRY, [log(&asked)]);
    let record = chain.validator(LEAVER).await;
    assert_eq!((record.status, record.stake, record.withdrawableAt), (INACTIVE, STAKE, until));
    assert_eq!(record.consensus, operator, "the node address is held until the stake is gone");
    assert_eq!(chain.open_slots().await, 1);
    assert_eq!(chain.books().await, [STAKE * U256::from(4), STAKE, U256::ZERO, U256::ZERO]);
    chain.exit(LEAVER).await.reverts_with(wrong_status(LEAVER, INACTIVE));
    chain.unjail(LEAVER).await.reverts_with(wrong_status(LEAVER, INACTIVE));
}

#[tokio::test]
async fn the_stake_is_paid_back_after_seven_days_and_not_a_second_before() {
    let mut chain = TestChain::start().await;
    let _ = chain.exit(LEAVER).await.succeeds();
    let (operator, until) = (LEAVER.address(), chain.now().await + 7 * DAY);
    // Another validator asks one second later, so that one chain can see both sides of the edge.
    let later = Person::Validator(3);
    chain.next_block_at(until - 7 * DAY + 3).await;
    let _ = chain.exit(later).await.succeeds();

    chain.next_block_at(until + 2).await;
    let locked = Registry::ValidatorRegistryStakeLocked { operator: later.address(), until: until + 3 };
    chain.withdraw(later).await.reverts_with(locked);
    assert_eq!(chain.now().await, until + 2, "one second before");

    let paid = Registry::StakeWithdrawn { operator, amount: STAKE };
    let released = Registry::ConsensusAddressChanged { operator, previous: operator, current: Address::ZERO };
    let _ = chain.withdraw(LEAVER).await.emits(REGISTRY, [log(&released), log(&paid)]);
    assert_eq!(chain.balance(operator).await, STAKE);
    let record = chain.validator(LEAVER).await;
    assert_eq!((record.status, record.stake, record.consensus), (INACTIVE, U256::ZERO, Address::ZERO));
    assert_eq!(chain.books().await, [STAKE * U256::from(3), STAKE, U256::ZERO, U256::ZERO]);
    chain.withdraw(LEAVER).await.reverts_with(Registry::ValidatorRegistryNothingToPay {});
}

#[tokio::test]
async fn the_stake_is_paid_back_at_the_very_second() {
    let mut chain = TestChain::start().await;
    let _ = chain.exit(LEAVER).await.succeeds();
    let until = chain.now().await + 7 * DAY;
    chain.next_block_at(until).await;
    let _ = chain.withdraw(LEAVER).await.succeeds();
    assert_eq!(chain.now().await, until);
}

#[tokio::test]
async fn only_members_leave_and_only_those_who_left_withdraw() {
    let mut chain = TestChain::start().await;
    chain.exit(STRANGER).await.reverts_with(wrong_status(STRANGER, NONE));
    chain.withdraw(STRANGER).await.reverts_with(wrong_status(STRANGER, NONE));
    chain.withdraw(LEAVER).await.reverts_with(wrong_status(LEAVER, ACTIVE));
    let _ = chain.slash(LEAVER, DOWNTIME).await.succeeds();
    chain.withdraw(LEAVER).await.reverts_with(wrong_status(LEAVER, JAILED));
}

#[tokio::test]
async fn a_jailed_validator_may_leave_and_its_wait_is_not_shorter_than_its_jail() {
    let mut chain = TestChain::start().await;
    let _ = chain.slash(LEAVER, DOWNTIME).await.succeeds();
    let jailed_until = chain.validator(LEAVER).await.jailedUntil;
    let _ = chain.exit(LEAVER).await.succeeds();
    let record = chain.validator(LEAVER).await;
    assert_eq!((record.status, record.jailedUntil), (INACTIVE, 0));
    assert!(record.withdrawableAt >= jailed_until);
}

#[tokio::test]
async fn who_left_joins_again_after_taking_the_stake_and_is_listed_once() {
    let mut chain = TestChain::start().await;
    let _ = chain.open(true).await.succeeds();
    chain.fund(LEAVER, STAKE).await;
    let _ = chain.exit(LEAVER).await.succeeds();
    chain.register(LEAVER).await.reverts_with(wrong_status(LEAVER, INACTIVE));
    chain.wait(7 * DAY).await;
    chain.register(LEAVER).await.reverts_with(wrong_status(LEAVER, INACTIVE));
    let _ = chain.withdraw(LEAVER).await.succeeds();

    let _ = chain.open(false).await.succeeds();
    chain.register(LEAVER).await.reverts_with(not_approved(LEAVER));
    let _ = chain.open(true).await.succeeds();
    let _ = chain.register(LEAVER).await.succeeds();
    let record = chain.validator(LEAVER).await;
    assert_eq!((record.status, record.consensus, record.withdrawableAt), (ACTIVE, LEAVER.address(), 0));
    assert_eq!(record.registeredAt, chain.now().await);
    assert_eq!(chain.view(REGISTRY, &Registry::validatorCountCall {}).await, U256::from(5));
    assert_eq!(chain.open_slots().await, 0);
}
