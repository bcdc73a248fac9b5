//! Which address a validator's node seals with.

use alloy_primitives::Address;
use contracts::{address::REGISTRY, bindings::PlatformValidatorRegistry as Registry};

use super::{DOWNTIME, INACTIVE, JAILED, NONE, wrong_status};
use crate::contracts::{
    chain::TestChain,
    outcome::log,
    person::{Person, STRANGER},
};

const FIRST: Person = Person::Validator(0);
const SECOND: Person = Person::Validator(1);
const NODE: Person = Person::Newcomer(0);

fn changed(operator: Person, previous: Address, current: Address) -> alloy_primitives::LogData {
    log(&Registry::ConsensusAddressChanged { operator: operator.address(), previous, current })
}

async fn operator_of(chain: &TestChain, consensus: Address) -> Address {
    chain.view(REGISTRY, &Registry::operatorOfCall { consensus }).await
}

#[tokio::test]
async fn a_member_names_its_node_and_frees_the_former_address() {
    let mut chain = TestChain::start().await;
    let (operator, node) = (FIRST.address(), NODE.address());
    let _ = chain.set_node(FIRST, node).await.emits(REGISTRY, [changed(FIRST, operator, node)]);
    assert_eq!(chain.validator(FIRST).await.consensus, node);
    assert_eq!(operator_of(&chain, node).await, operator);
    assert_eq!(operator_of(&chain, operator).await, Address::ZERO);

    let _ = chain.slash(FIRST, DOWNTIME).await.succeeds();
    assert_eq!(chain.status(FIRST).await, JAILED);
    let back = chain.set_node(FIRST, operator).await;
    let _ = back.emits(REGISTRY, [changed(FIRST, node, operator)]);
}

#[tokio::test]
async fn an_address_belongs_to_one_operator_and_is_not_zero() {
    let mut chain = TestChain::start().await;
    let taken = |consensus: Address, operator: Person| Registry::ValidatorRegistryConsensusAddressTaken {
        consensus,
        operator: operator.address(),
    };
    chain.set_node(FIRST, SECOND.address()).await.reverts_with(taken(SECOND.address(), SECOND));
    chain.set_node(FIRST, FIRST.address()).await.reverts_with(taken(FIRST.address(), FIRST));
    chain.set_node(FIRST, Address::ZERO).await.reverts_with(Registry::ValidatorRegistryZeroAddress {});
}

#[tokio::test]
async fn only_members_name_a_node() {
    let mut chain = TestChain::start().await;
    chain.set_node(STRANGER, NODE.address()).await.reverts_with(wrong_status(STRANGER, NONE));
    let _ = chain.exit(FIRST).await.succeeds();
    chain.set_node(FIRST, NODE.address()).await.reverts_with(wrong_status(FIRST, INACTIVE));
}

#[tokio::test]
async fn the_holder_of_a_key_frees_its_address_from_a_false_claim() {
    let mut chain = TestChain::start().await;
    let release = Registry::releaseConsensusAddressCall {};
    let unknown = || Registry::ValidatorRegistryConsensusAddressUnknown { consensus: NODE.address() };
    chain.send(NODE, REGISTRY, &release).await.reverts_with(unknown());
    let _ = chain.set_node(FIRST, NODE.address()).await.succeeds();
    let outcome = chain.send(NODE, REGISTRY, &release).await;
    let _ = outcome.emits(REGISTRY, [changed(FIRST, NODE.address(), Address::ZERO)]);
    assert_eq!(chain.validator(FIRST).await.consensus, Address::ZERO);
    assert_eq!(operator_of(&chain, NODE.address()).await, Address::ZERO);
    chain.send(NODE, REGISTRY, &release).await.reverts_with(unknown());
    let _ = chain.set_node(SECOND, NODE.address()).await.succeeds();
}

#[tokio::test]
async fn a_newcomer_takes_its_own_address_back_when_it_registers() {
    let mut chain = TestChain::start().await;
    let _ = chain.expand(2).await.succeeds();
    let _ = chain.set_node(FIRST, STRANGER.address()).await.succeeds();
    let outcome = chain.register(STRANGER).await.succeeds();
    let claims: Vec<_> = outcome.logs.into_iter().skip(1).map(|log| log.data).collect();
    let expected = [
        changed(FIRST, STRANGER.address(), Address::ZERO),
        changed(STRANGER, Address::ZERO, STRANGER.address()),
    ];
    assert_eq!(claims, expected);
    assert_eq!(operator_of(&chain, STRANGER.address()).await, STRANGER.address());
}
