//! Operators that are contracts in bad faith.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use contracts::{
    address::{REGISTRY, TREASURY},
    bindings::PlatformValidatorRegistry as Registry,
};

use super::{INACTIVE, registration};
use crate::contracts::{
    chain::{COIN, DAY, STAKE, TestChain},
    hostile,
    person::{ADMIN, STRANGER},
};

/// Registers a contract as validator, rewards it, and has it ask for its exit; its stake is due.
async fn retired_proxy(chain: &mut TestChain, on_receipt: Option<&[u8]>) -> Address {
    let _ = chain.expand(2).await.succeeds();
    let operator = chain.deploy(STRANGER, hostile::proxy(REGISTRY, on_receipt)).await.deployed();
    let _ = chain.pay(STRANGER, operator, STAKE, &registration(STAKE)).await.succeeds();
    let reward = Registry::distributeRewardsCall { operator, amount: COIN };
    let _ = chain.pay(ADMIN, REGISTRY, COIN, &reward).await.succeeds();
    let _ = chain.send(STRANGER, operator, &Registry::requestExitCall {}).await.succeeds();
    chain.wait(7 * DAY).await;
    operator
}

#[tokio::test]
async fn an_operator_cannot_be_paid_twice_from_within() {
    for meddling in [Registry::withdrawStakeCall::SELECTOR, Registry::claimRewardsCall::SELECTOR] {
        let mut chain = TestChain::start().await;
        let operator = retired_proxy(&mut chain, Some(&meddling)).await;
        let _ = chain.send(STRANGER, operator, &Registry::claimRewardsCall {}).await.succeeds();
        assert_eq!(chain.balance(operator).await, COIN);
        let _ = chain.send(STRANGER, operator, &Registry::withdrawStakeCall {}).await.succeeds();
        assert_eq!(chain.balance(operator).await, COIN + STAKE);
        assert_eq!(chain.books().await, [STAKE * U256::from(5), U256::ZERO, U256::ZERO, U256::ZERO]);
    }
}

#[tokio::test]
async fn an_operator_that_refuses_its_coin_holds_up_nobody_and_loses_nothing() {
    let mut chain = TestChain::start().await;
    let recipient = retired_proxy(&mut chain, None).await;
    let failed = |amount| Registry::ValidatorRegistryTransferFailed { recipient, amount };
    let claim = Registry::claimRewardsCall {};
    chain.send(STRANGER, recipient, &claim).await.reverts_with(failed(COIN));
    let withdraw = Registry::withdrawStakeCall {};
    chain.send(STRANGER, recipient, &withdraw).await.reverts_with(failed(STAKE));

    let record = chain.view(REGISTRY, &Registry::getValidatorCall { operator: recipient }).await;
    assert_eq!((record.status, record.stake, record.rewards), (INACTIVE, STAKE, COIN));
    let slash = Registry::slashValidatorCall { operator: recipient, reason: super::DOWNTIME };
    let _ = chain.send(super::SLASHER, REGISTRY, &slash).await.succeeds();
    let _ = chain.send(STRANGER, REGISTRY, &Registry::withdrawPenaltiesCall {}).await.succeeds();
    assert_eq!(chain.balance(TREASURY).await, STAKE / U256::from(100));
}
