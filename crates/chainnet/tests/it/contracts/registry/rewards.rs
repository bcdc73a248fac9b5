//! Rewards: set aside by the admin, claimed by the operator.

use alloy_primitives::U256;
use contracts::{address::REGISTRY, bindings::PlatformValidatorRegistry as Registry};

use super::{DOWNTIME, INACTIVE, JAILED, NONE, REMOVED, SLASHED, wrong_status};
use crate::contracts::{
    chain::{COIN, STAKE, TestChain},
    outcome::log,
    person::{ADMIN, Person, STRANGER},
};

const EARNER: Person = Person::Validator(3);

#[tokio::test]
async fn rewards_are_set_aside_and_claimed_to_the_wei() {
    let mut chain = TestChain::start().await;
    let operator = EARNER.address();
    let mut total = U256::ZERO;
    for amount in [U256::ONE, COIN, COIN + U256::from(3)] {
        let set_aside = Registry::RewardsDistributed { operator, amount };
        let _ = chain.reward(EARNER, amount).await.emits(REGISTRY, [log(&set_aside)]);
        total += amount;
        assert_eq!(chain.validator(EARNER).await.rewards, total);
        assert_eq!(chain.books().await, [STAKE * U256::from(5), U256::ZERO, total, U256::ZERO]);
    }
    let before = chain.balance(operator).await;
    let claimed = Registry::RewardsClaimed { operator, amount: total };
    let _ = chain.claim(EARNER).await.emits(REGISTRY, [log(&claimed)]);
    assert_eq!(chain.balance(operator).await, before + total);
    assert_eq!(chain.validator(EARNER).await.rewards, U256::ZERO);
    assert_eq!(chain.validator(EARNER).await.stake, STAKE);
    assert_eq!(chain.books().await[2], U256::ZERO);
    chain.claim(EARNER).await.reverts_with(Registry::ValidatorRegistryNothingToPay {});
}

#[tokio::test]
async fn a_reward_is_the_coin_that_was_sent_and_not_nothing() {
    let mut chain = TestChain::start().await;
    let call = Registry::distributeRewardsCall { operator: EARNER.address(), amount: COIN };
    for sent in [U256::ZERO, COIN - U256::ONE, COIN + U256::ONE] {
        let refusal = Registry::ValidatorRegistryAmountMismatch { stated: COIN, sent };
        chain.pay(ADMIN, REGISTRY, sent, &call).await.reverts_with(refusal);
    }
    chain.reward(EARNER, U256::ZERO).await.reverts_with(Registry::ValidatorRegistryNothingToPay {});
    chain.claim(EARNER).await.reverts_with(Registry::ValidatorRegistryNothingToPay {});
    chain.claim(STRANGER).await.reverts_with(Registry::ValidatorRegistryNothingToPay {});
}

#[tokio::test]
async fn members_and_those_who_leave_are_rewarded_and_nobody_else() {
    let mut chain = TestChain::start().await;
    let [jailed, leaving, slashed, removed] = [0, 1, 2, 4].map(Person::Validator);
    let _ = chain.slash(jailed, DOWNTIME).await.succeeds();
    let _ = chain.exit(leaving).await.succeeds();
    for _ in 0..3 {
        let _ = chain.slash(slashed, DOWNTIME).await.succeeds();
    }
    let _ = chain.slash(removed, DOWNTIME).await.succeeds();
    let _ = chain.remove(removed).await.succeeds();

    for (person, status) in [(jailed, JAILED), (leaving, INACTIVE)] {
        assert_eq!(chain.status(person).await, status);
        let _ = chain.reward(person, COIN).await.succeeds();
        let _ = chain.claim(person).await.succeeds();
    }
    for (person, status) in [(slashed, SLASHED), (removed, REMOVED), (STRANGER, NONE)] {
        chain.reward(person, COIN).await.reverts_with(wrong_status(person, status));
    }
}

#[tokio::test]
async fn rewards_earned_before_a_removal_are_claimed_after_it() {
    let mut chain = TestChain::start().await;
    let _ = chain.reward(EARNER, COIN).await.succeeds();
    for _ in 0..3 {
        let _ = chain.slash(EARNER, DOWNTIME).await.succeeds();
    }
    assert_eq!(chain.status(EARNER).await, SLASHED);
    let before = chain.balance(EARNER.address()).await;
    let _ = chain.claim(EARNER).await.succeeds();
    assert_eq!(chain.balance(EARNER.address()).await, before + COIN);
}
