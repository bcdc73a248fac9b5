//! Joining the set.

use alloy_primitives::{Address, U256};
use contracts::{address::REGISTRY, bindings::PlatformValidatorRegistry as Registry};

use super::{ACTIVE, COMMISSION_BPS, NONE, not_approved, registration, wrong_status};
use crate::contracts::{
    chain::{COIN, STAKE, TestChain},
    outcome::log,
    person::{ADMIN, Person, STRANGER},
};

#[tokio::test]
async fn the_genesis_has_five_active_validators_with_their_stake_and_moniker() {
    let chain = TestChain::start().await;
    assert_eq!(chain.view(REGISTRY, &Registry::validatorCountCall {}).await, U256::from(5));
    let page = Registry::getValidatorsCall { offset: U256::ZERO, limit: U256::from(100) };
    for (index, listed) in chain.view(REGISTRY, &page).await.into_iter().enumerate() {
        let operator = Person::Validator(index).address();
        assert_eq!((listed.operator, listed.consensus), (operator, operator));
        assert_eq!((listed.stake, listed.status, listed.slashCount), (STAKE, ACTIVE, 0));
        assert_eq!(listed.moniker, format!("Genesis Validator {}", index + 1));
        assert_eq!(chain.validator(Person::Validator(index)).await, listed);
    }
    assert_eq!(chain.books().await, [STAKE * U256::from(5), U256::ZERO, U256::ZERO, U256::ZERO]);
}

#[tokio::test]
async fn a_registration_is_recorded_counted_and_logged() {
    let mut chain = TestChain::start().await;
    let _ = chain.expand(2).await.succeeds();
    let before = chain.balance(STRANGER.address()).await;
    let stake = STAKE + U256::from(7);
    let operator = STRANGER.address();
    let call = registration(stake);
    let outcome = chain.pay(STRANGER, REGISTRY, stake, &call).await;
    let registered = Registry::ValidatorRegistered {
        operator,
        moniker: call.moniker.clone(),
        website: call.website.clone(),
        stake,
        commissionBps: COMMISSION_BPS,
    };
    let node = Registry::ConsensusAddressChanged { operator, previous: Address::ZERO, current: operator };
    let _ = outcome.emits(REGISTRY, [log(&registered), log(&node)]);

    let record = chain.validator(STRANGER).await;
    assert_eq!((record.operator, record.consensus, record.stake), (operator, operator, stake));
    assert_eq!((record.status, record.slashCount, record.commissionBps), (ACTIVE, 0, COMMISSION_BPS));
    assert_eq!((record.moniker, record.website), (call.moniker, call.website));
    assert_eq!(record.registeredAt, chain.now().await);
    assert_eq!((record.jailedUntil, record.withdrawableAt, record.rewards), (0, 0, U256::ZERO));
    assert_eq!(chain.view(REGISTRY, &Registry::operatorOfCall { consensus: operator }).await, operator);
    assert_eq!(chain.view(REGISTRY, &Registry::validatorCountCall {}).await, U256::from(6));
    assert_eq!(chain.balance(operator).await, before - stake);
    assert_eq!(chain.books().await[0], STAKE * U256::from(5) + stake);
    chain.register(STRANGER).await.reverts_with(wrong_status(STRANGER, ACTIVE));
}

#[tokio::test]
async fn while_registration_is_closed_only_the_approved_join_and_the_approval_is_used_up() {
    let mut chain = TestChain::start().await;
    let _ = chain.set_max(7).await.succeeds();
    chain.register(STRANGER).await.reverts_with(not_approved(STRANGER));

    let operator = STRANGER.address();
    let approval = |approved| log(&Registry::OperatorApprovalChanged { operator, approved });
    let is_approved = Registry::isOperatorApprovedCall { operator };
    let _ = chain.approve(STRANGER, true).await.emits(REGISTRY, [approval(true)]);
    assert!(chain.view(REGISTRY, &is_approved).await);
    let _ = chain.approve(STRANGER, false).await.emits(REGISTRY, [approval(false)]);
    chain.register(STRANGER).await.reverts_with(not_approved(STRANGER));

    let _ = chain.approve(STRANGER, true).await.succeeds();
    let outcome = chain.register(STRANGER).await.succeeds();
    assert_eq!(outcome.logs[0].data, approval(false), "the approval goes first");
    assert!(!chain.view(REGISTRY, &is_approved).await);
    assert_eq!(chain.status(STRANGER).await, ACTIVE);
    chain.register(Person::Dev(2)).await.reverts_with(not_approved(Person::Dev(2)));
}

#[tokio::test]
async fn a_full_set_refuses_even_the_approved() {
    let mut chain = TestChain::start().await;
    assert_eq!(chain.open_slots().await, 0);
    let full = |max: u64| Registry::ValidatorRegistryFull { maxValidators: U256::from(max) };
    let _ = chain.approve(STRANGER, true).await.succeeds();
    chain.register(STRANGER).await.reverts_with(full(5));
    let _ = chain.open(true).await.succeeds();
    chain.register(Person::Dev(2)).await.reverts_with(full(5));

    let _ = chain.set_max(6).await.succeeds();
    let _ = chain.register(Person::Dev(2)).await.succeeds();
    chain.register(STRANGER).await.reverts_with(full(6));
    assert_eq!(chain.status(STRANGER).await, NONE);
}

#[tokio::test]
async fn the_last_slot_goes_to_one_of_two_in_the_same_block() {
    let mut chain = TestChain::start().await;
    let _ = chain.open(true).await.succeeds();
    let _ = chain.set_max(6).await.succeeds();
    let mut hashes = Vec::new();
    for person in [STRANGER, Person::Dev(2)] {
        let draft = crate::contracts::chain::draft(REGISTRY, STAKE, &registration(STAKE));
        hashes.push(chain.submit(person, draft).await);
    }
    chain.mine().await;
    let mut joined = 0;
    for hash in hashes {
        let outcome = chain.outcome(hash).await;
        if outcome.succeeded {
            joined += 1;
        } else {
            outcome.reverts_with(Registry::ValidatorRegistryFull { maxValidators: U256::from(6) });
        }
    }
    assert_eq!(joined, 1);
    assert_eq!(chain.books().await[0], STAKE * U256::from(6));
}

#[tokio::test]
async fn anybody_joins_while_registration_is_open_and_nobody_after_it_closes() {
    let mut chain = TestChain::start().await;
    let _ = chain.set_max(8).await.succeeds();
    let changed = |open| log(&Registry::CommunityRegistrationChanged { open });
    let _ = chain.open(true).await.emits(REGISTRY, [changed(true)]);
    assert!(chain.view(REGISTRY, &Registry::communityRegistrationOpenCall {}).await);
    let _ = chain.register(STRANGER).await.succeeds();
    let _ = chain.open(false).await.emits(REGISTRY, [changed(false)]);
    chain.register(Person::Dev(2)).await.reverts_with(not_approved(Person::Dev(2)));
    assert_eq!(chain.open_slots().await, 2);
}

#[tokio::test]
async fn the_terms_of_a_registration_are_checked() {
    let mut chain = TestChain::start().await;
    let _ = chain.expand(2).await.succeeds();
    let before = chain.balance(STRANGER.address()).await;
    let with_moniker = |length: usize| Registry::registerValidatorCall {
        moniker: "x".repeat(length),
        ..registration(STAKE)
    };
    for length in [0, 2, 161] {
        let refusal = Registry::ValidatorRegistryMonikerLength { length: U256::from(length) };
        chain.pay(STRANGER, REGISTRY, STAKE, &with_moniker(length)).await.reverts_with(refusal);
    }
    let with_website = |length: usize| Registry::registerValidatorCall {
        website: "x".repeat(length),
        ..registration(STAKE)
    };
    let refusal = Registry::ValidatorRegistryWebsiteLength { length: U256::from(257) };
    chain.pay(STRANGER, REGISTRY, STAKE, &with_website(257)).await.reverts_with(refusal);
    for commission_bps in [2_001, u16::MAX] {
        let greedy = Registry::registerValidatorCall { commissionBps: commission_bps, ..registration(STAKE) };
        let refusal =
            Registry::ValidatorRegistryCommissionTooHigh { commissionBps: commission_bps, maximum: 2_000 };
        chain.pay(STRANGER, REGISTRY, STAKE, &greedy).await.reverts_with(refusal);
    }
    for sent in [U256::ZERO, STAKE - U256::ONE, STAKE + U256::ONE] {
        let refusal = Registry::ValidatorRegistryAmountMismatch { stated: STAKE, sent };
        chain.pay(STRANGER, REGISTRY, sent, &registration(STAKE)).await.reverts_with(refusal);
    }
    for stake in [U256::ZERO, COIN, STAKE - U256::ONE] {
        let refusal = Registry::ValidatorRegistryStakeTooLow { stake, minimum: STAKE };
        chain.pay(STRANGER, REGISTRY, stake, &registration(stake)).await.reverts_with(refusal);
    }
    assert_eq!(chain.balance(STRANGER.address()).await, before, "a refusal costs nothing");

    let bounds = Registry::registerValidatorCall { website: "x".repeat(256), ..with_moniker(160) };
    let _ = chain.pay(STRANGER, REGISTRY, STAKE, &bounds).await.succeeds();
    let least =
        Registry::registerValidatorCall { website: String::new(), commissionBps: 0, ..with_moniker(3) };
    let _ = chain.pay(Person::Dev(2), REGISTRY, STAKE, &least).await.succeeds();
}

#[tokio::test]
async fn coin_without_a_call_reverts_with() {
    let mut chain = TestChain::start().await;
    chain.transfer(ADMIN, REGISTRY, COIN).await.reverts_silently();
    let unpayable = Registry::requestExitCall {};
    chain.pay(STRANGER, REGISTRY, COIN, &unpayable).await.reverts_silently();
    let _ = chain.books().await;
}
