//! Slashing, jail, and the penalties' way to the treasury.

use alloy_primitives::U256;
use contracts::{
    address::{REGISTRY, TREASURY},
    bindings::PlatformValidatorRegistry as Registry,
};

use super::{
    ACTIVE, DOUBLE_SIGN, DOWNTIME, INACTIVE, JAILED, NONE, REMOVED, SLASHED, registration, wrong_status,
};
use crate::contracts::{
    chain::{DAY, STAKE, TestChain, draft},
    outcome::{Outcome, log},
    person::{ADMIN, Person, SLASHER, STRANGER},
};

const SLASHEE: Person = Person::Validator(0);
const FIVE: U256 = U256::from_limbs([5, 0, 0, 0]);

/// Asserts that a slash took `penalty`, left `stake` and jailed until seven days from now.
async fn assert_jailed(
    chain: &TestChain,
    outcome: Outcome,
    reason: u8,
    penalty: U256,
    stake: U256,
    count: u8,
) {
    let operator = SLASHEE.address();
    let until = chain.now().await + 7 * DAY;
    let slashed = Registry::ValidatorSlashed { operator, reason, penalty, stake, slashCount: count };
    let jailed = Registry::ValidatorJailed { operator, until };
    let _ = outcome.emits(REGISTRY, [log(&slashed), log(&jailed)]);
    let record = chain.validator(SLASHEE).await;
    assert_eq!((record.status, record.slashCount, record.stake), (JAILED, count, stake));
    assert_eq!((record.jailedUntil, record.withdrawableAt), (until, 0));
}

#[tokio::test]
async fn downtime_costs_one_percent_and_seven_days() {
    let mut chain = TestChain::start().await;
    let outcome = chain.slash(SLASHEE, DOWNTIME).await;
    let penalty = STAKE / U256::from(100);
    assert_jailed(&chain, outcome, DOWNTIME, penalty, STAKE - penalty, 1).await;
    assert_eq!(chain.books().await, [STAKE * FIVE - penalty, U256::ZERO, U256::ZERO, penalty]);
    assert_eq!(chain.open_slots().await, 0, "a jailed validator keeps its slot");
}

#[tokio::test]
async fn a_double_sign_costs_five_percent_and_seven_days() {
    let mut chain = TestChain::start().await;
    let outcome = chain.slash(SLASHEE, DOUBLE_SIGN).await;
    let penalty = STAKE / U256::from(20);
    assert_jailed(&chain, outcome, DOUBLE_SIGN, penalty, STAKE - penalty, 1).await;
    assert_eq!(chain.books().await, [STAKE * FIVE - penalty, U256::ZERO, U256::ZERO, penalty]);
}

#[tokio::test]
async fn an_odd_stake_is_slashed_to_the_wei_in_the_operators_favour() {
    let mut chain = TestChain::start().await;
    let _ = chain.expand(2).await.succeeds();
    let stake = STAKE + U256::from(199);
    let _ = chain.pay(STRANGER, REGISTRY, stake, &registration(stake)).await.succeeds();
    let _ = chain.slash(STRANGER, DOWNTIME).await.succeeds();
    let penalty = STAKE / U256::from(100) + U256::ONE;
    assert_eq!(chain.validator(STRANGER).await.stake, stake - penalty);
    assert_eq!(chain.books().await[3], penalty);
}

#[tokio::test]
async fn a_second_slash_takes_from_what_is_left_and_jails_anew() {
    let mut chain = TestChain::start().await;
    let _ = chain.slash(SLASHEE, DOWNTIME).await.succeeds();
    let left = STAKE - STAKE / U256::from(100);
    chain.wait(3 * DAY).await;
    let outcome = chain.slash(SLASHEE, DOUBLE_SIGN).await;
    let penalty = left / U256::from(20);
    assert_jailed(&chain, outcome, DOUBLE_SIGN, penalty, left - penalty, 2).await;
}

#[tokio::test]
async fn the_third_slash_removes_with_status_slashed() {
    let mut chain = TestChain::start().await;
    let mut stake = STAKE;
    for _ in 0..2 {
        let _ = chain.slash(SLASHEE, DOWNTIME).await.succeeds();
        stake -= stake / U256::from(100);
    }
    let outcome = chain.slash(SLASHEE, DOUBLE_SIGN).await;
    let operator = SLASHEE.address();
    let penalty = stake / U256::from(20);
    stake -= penalty;
    let slashed = Registry::ValidatorSlashed { operator, reason: DOUBLE_SIGN, penalty, stake, slashCount: 3 };
    let removed = Registry::ValidatorRemoved { operator, status: SLASHED, reason: "third slash".to_owned() };
    let _ = outcome.emits(REGISTRY, [log(&slashed), log(&removed)]);

    let record = chain.validator(SLASHEE).await;
    let until = chain.now().await + 7 * DAY;
    assert_eq!((record.status, record.slashCount, record.stake), (SLASHED, 3, stake));
    assert_eq!((record.jailedUntil, record.withdrawableAt), (0, until));
    assert_eq!(chain.open_slots().await, 1, "its slot is free");
    assert_eq!(chain.books().await, [STAKE * U256::from(4), stake, U256::ZERO, STAKE - stake]);

    chain.slash(SLASHEE, DOWNTIME).await.reverts_with(wrong_status(SLASHEE, SLASHED));
    chain.unjail(SLASHEE).await.reverts_with(wrong_status(SLASHEE, SLASHED));
    chain.exit(SLASHEE).await.reverts_with(wrong_status(SLASHEE, SLASHED));
    let locked = Registry::ValidatorRegistryStakeLocked { operator, until };
    chain.withdraw(SLASHEE).await.reverts_with(locked);

    chain.next_block_at(until).await;
    let _ = chain.withdraw(SLASHEE).await.succeeds();
    assert_eq!(chain.balance(operator).await, stake);
    let _ = chain.approve(SLASHEE, true).await.succeeds();
    chain.fund(SLASHEE, STAKE).await;
    chain.register(SLASHEE).await.reverts_with(wrong_status(SLASHEE, SLASHED));
}

#[tokio::test]
async fn three_slashes_in_one_block_count_as_three() {
    let mut chain = TestChain::start().await;
    let call = Registry::slashValidatorCall { operator: SLASHEE.address(), reason: DOWNTIME };
    let mut hashes = Vec::new();
    for _ in 0..4 {
        hashes.push(chain.submit(SLASHER, draft(REGISTRY, U256::ZERO, &call)).await);
    }
    chain.mine().await;
    let last = hashes.pop().expect("four");
    for hash in hashes {
        let _ = chain.outcome(hash).await.succeeds();
    }
    chain.outcome(last).await.reverts_with(wrong_status(SLASHEE, SLASHED));
}

#[tokio::test]
async fn anybody_unjails_from_the_last_second_on_and_never_before() {
    let mut chain = TestChain::start().await;
    chain.unjail(SLASHEE).await.reverts_with(wrong_status(SLASHEE, ACTIVE));
    chain.unjail(STRANGER).await.reverts_with(wrong_status(STRANGER, NONE));
    let _ = chain.slash(SLASHEE, DOWNTIME).await.succeeds();
    let until = chain.now().await + 7 * DAY;
    let still = || Registry::ValidatorRegistryStillJailed { operator: SLASHEE.address(), until };
    let call = Registry::unjailValidatorCall { operator: SLASHEE.address() };
    for person in [STRANGER, ADMIN, SLASHER, SLASHEE] {
        chain.send(person, REGISTRY, &call).await.reverts_with(still());
    }
    // Blocks are two seconds apart, so the second before the end and the end itself are two chains.
    let snapshot: serde_json::Value = chain.client().call("evm_snapshot", [(); 0]).await.expect("a snapshot");
    chain.next_block_at(until - 1).await;
    chain.unjail(SLASHEE).await.reverts_with(still());
    assert_eq!(chain.now().await, until - 1);

    assert!(chain.client().call::<bool>("evm_revert", [snapshot]).await.expect("an answer"));
    chain.forget(STRANGER).await;
    chain.next_block_at(until).await;
    let freed = Registry::ValidatorUnjailed { operator: SLASHEE.address() };
    let _ = chain.unjail(SLASHEE).await.emits(REGISTRY, [log(&freed)]);
    assert_eq!(chain.now().await, until);
    let record = chain.validator(SLASHEE).await;
    assert_eq!((record.status, record.jailedUntil, record.slashCount), (ACTIVE, 0, 1));
    chain.unjail(SLASHEE).await.reverts_with(wrong_status(SLASHEE, ACTIVE));
}

#[tokio::test]
async fn a_jail_does_not_end_by_itself_and_may_be_left_late() {
    let mut chain = TestChain::start().await;
    let _ = chain.slash(SLASHEE, DOWNTIME).await.succeeds();
    chain.wait(30 * DAY).await;
    chain.mine().await;
    assert_eq!(chain.status(SLASHEE).await, JAILED);
    let _ = chain.unjail(SLASHEE).await.succeeds();
    assert_eq!(chain.status(SLASHEE).await, ACTIVE);
}

#[tokio::test]
async fn slashes_count_over_a_lifetime_and_jail_between_them_does_not_reset_them() {
    let mut chain = TestChain::start().await;
    for _ in 0..2 {
        let _ = chain.slash(SLASHEE, DOWNTIME).await.succeeds();
        chain.wait(7 * DAY).await;
        let _ = chain.unjail(SLASHEE).await.succeeds();
    }
    let record = chain.validator(SLASHEE).await;
    assert_eq!((record.status, record.slashCount), (ACTIVE, 2));
    assert!(record.stake < STAKE, "the minimum is not asked again");
    let _ = chain.slash(SLASHEE, DOWNTIME).await.succeeds();
    assert_eq!(chain.status(SLASHEE).await, SLASHED);
}

#[tokio::test]
async fn only_known_reasons_and_people_with_stake_are_slashed() {
    let mut chain = TestChain::start().await;
    for reason in [0, 3, 255] {
        chain
            .slash(SLASHEE, reason)
            .await
            .reverts_with(Registry::ValidatorRegistryUnknownSlashReason { reason });
    }
    chain.slash(STRANGER, DOWNTIME).await.reverts_with(wrong_status(STRANGER, NONE));

    let gone = Person::Validator(1);
    let _ = chain.exit(gone).await.succeeds();
    chain.wait(7 * DAY).await;
    let _ = chain.withdraw(gone).await.succeeds();
    chain.slash(gone, DOWNTIME).await.reverts_with(wrong_status(gone, INACTIVE));

    let removed = Person::Validator(2);
    let _ = chain.slash(removed, DOWNTIME).await.succeeds();
    let _ = chain.remove(removed).await.succeeds();
    chain.slash(removed, DOWNTIME).await.reverts_with(wrong_status(removed, REMOVED));
}

#[tokio::test]
async fn who_leaves_stays_within_reach_without_jail_and_waits_anew() {
    let mut chain = TestChain::start().await;
    let _ = chain.exit(SLASHEE).await.succeeds();
    chain.wait(6 * DAY).await;
    let outcome = chain.slash(SLASHEE, DOUBLE_SIGN).await;
    let (operator, penalty) = (SLASHEE.address(), STAKE / U256::from(20));
    let stake = STAKE - penalty;
    let slashed = Registry::ValidatorSlashed { operator, reason: DOUBLE_SIGN, penalty, stake, slashCount: 1 };
    let _ = outcome.emits(REGISTRY, [log(&slashed)]);
    let record = chain.validator(SLASHEE).await;
    assert_eq!((record.status, record.jailedUntil), (INACTIVE, 0));
    assert_eq!(record.withdrawableAt, chain.now().await + 7 * DAY);
    assert_eq!(chain.books().await, [STAKE * U256::from(4), stake, U256::ZERO, penalty]);
    assert_eq!(chain.open_slots().await, 1, "the slot is not freed twice");

    for _ in 0..2 {
        let _ = chain.slash(SLASHEE, DOWNTIME).await.succeeds();
    }
    assert_eq!(chain.status(SLASHEE).await, SLASHED);
    assert_eq!(chain.open_slots().await, 1);
}

#[tokio::test]
async fn leaving_and_coming_back_does_not_forget_slashes() {
    let mut chain = TestChain::start().await;
    for _ in 0..2 {
        let _ = chain.slash(SLASHEE, DOWNTIME).await.succeeds();
    }
    let _ = chain.exit(SLASHEE).await.succeeds();
    chain.wait(7 * DAY).await;
    let _ = chain.withdraw(SLASHEE).await.succeeds();
    chain.fund(SLASHEE, STAKE).await;
    let _ = chain.approve(SLASHEE, true).await.succeeds();
    let _ = chain.register(SLASHEE).await.succeeds();
    assert_eq!(chain.validator(SLASHEE).await.slashCount, 2);
    let _ = chain.slash(SLASHEE, DOWNTIME).await.succeeds();
    assert_eq!(chain.status(SLASHEE).await, SLASHED);
}

#[tokio::test]
async fn anybody_sends_the_penalties_to_the_treasury() {
    let mut chain = TestChain::start().await;
    let withdraw = Registry::withdrawPenaltiesCall {};
    let nothing = || Registry::ValidatorRegistryNothingToPay {};
    chain.send(STRANGER, REGISTRY, &withdraw).await.reverts_with(nothing());
    let _ = chain.slash(SLASHEE, DOWNTIME).await.succeeds();
    let _ = chain.slash(Person::Validator(1), DOUBLE_SIGN).await.succeeds();
    let amount = STAKE * U256::from(6) / U256::from(100);
    assert_eq!(chain.balance(TREASURY).await, U256::ZERO, "penalties wait in the registry");

    let paid = Registry::PenaltiesWithdrawn { treasury: TREASURY, amount };
    let _ = chain.send(STRANGER, REGISTRY, &withdraw).await.emits(REGISTRY, [log(&paid)]);
    assert_eq!(chain.balance(TREASURY).await, amount);
    assert_eq!(chain.books().await, [STAKE * FIVE - amount, U256::ZERO, U256::ZERO, U256::ZERO]);
    chain.send(STRANGER, REGISTRY, &withdraw).await.reverts_with(nothing());
}
