//! Phases, slots, lists and the constants of the program.

use alloy_primitives::{Address, U256};
use contracts::{
    address::{REGISTRY, TREASURY},
    bindings::PlatformValidatorRegistry as Registry,
};

use crate::contracts::{
    chain::{DAY, STAKE, TestChain},
    outcome::log,
    person::{ADMIN, Person, STRANGER},
};

async fn status(chain: &TestChain) -> (u8, u64, u64, u64, bool) {
    let status = chain.view(REGISTRY, &Registry::getExpansionStatusCall {}).await;
    (status.phase, status.current.to(), status.max.to(), status.target.to(), status.communityOpen)
}

#[tokio::test]
async fn the_program_starts_full_in_phase_one_and_closed() {
    let chain = TestChain::start().await;
    assert_eq!(status(&chain).await, (1, 5, 5, 21, false));
    assert!(!chain.view(REGISTRY, &Registry::communityRegistrationOpenCall {}).await);
    assert_eq!(chain.open_slots().await, 0);
}

#[tokio::test]
async fn each_phase_sets_its_slots_and_opens_registration() {
    let mut chain = TestChain::start().await;
    for (phase, max) in [(2, 11), (3, 21), (1, 5)] {
        let _ = chain.open(false).await.succeeds();
        let changed = Registry::PhaseChanged { phase, maxValidators: U256::from(max) };
        let opened = Registry::CommunityRegistrationChanged { open: true };
        let _ = chain.expand(phase).await.emits(REGISTRY, [log(&changed), log(&opened)]);
        assert_eq!(status(&chain).await, (phase, 5, max, 21, true));
        assert_eq!(chain.open_slots().await, max - 5);
    }
    for phase in [0, 4, 255] {
        chain.expand(phase).await.reverts_with(Registry::ValidatorRegistryUnknownPhase { phase });
    }
    assert_eq!(status(&chain).await, (1, 5, 5, 21, true));
}

#[tokio::test]
async fn the_number_of_slots_is_set_between_one_and_twenty_one() {
    let mut chain = TestChain::start().await;
    for max in [6, 21, 1] {
        let changed = Registry::MaxValidatorsChanged { maxValidators: U256::from(max) };
        let _ = chain.set_max(max).await.emits(REGISTRY, [log(&changed)]);
        assert_eq!(status(&chain).await, (1, 5, max, 21, false), "neither phase nor door moves");
        assert_eq!(chain.open_slots().await, max.saturating_sub(5), "fewer slots remove nobody");
    }
    for max in [0, 22, u64::MAX] {
        let refusal = Registry::ValidatorRegistryMaxOutOfRange { maxValidators: U256::from(max) };
        chain.set_max(max).await.reverts_with(refusal);
    }
    let call = Registry::setMaxValidatorsCall { maxValidators: U256::MAX };
    let refusal = Registry::ValidatorRegistryMaxOutOfRange { maxValidators: U256::MAX };
    chain.send(ADMIN, REGISTRY, &call).await.reverts_with(refusal);
}

#[tokio::test]
async fn a_smaller_phase_removes_nobody_and_closes_the_door() {
    let mut chain = TestChain::start().await;
    let _ = chain.expand(2).await.succeeds();
    let _ = chain.register(STRANGER).await.succeeds();
    let _ = chain.expand(1).await.succeeds();
    assert_eq!(status(&chain).await, (1, 6, 5, 21, true));
    assert_eq!(chain.open_slots().await, 0);
    let full = || Registry::ValidatorRegistryFull { maxValidators: U256::from(5) };
    chain.register(Person::Dev(2)).await.reverts_with(full());
    let _ = chain.exit(STRANGER).await.succeeds();
    assert_eq!(chain.open_slots().await, 0, "five members, five slots");
}

#[tokio::test]
async fn the_third_phase_fills_up_to_twenty_one_validators() {
    let mut chain = TestChain::start().await;
    let _ = chain.expand(3).await.succeeds();
    for index in 0..17 {
        chain.fund(Person::Newcomer(index), STAKE).await;
    }
    for index in 0..16 {
        assert_eq!(chain.open_slots().await, 16 - index as u64);
        let _ = chain.register(Person::Newcomer(index)).await.succeeds();
    }
    assert_eq!(status(&chain).await, (3, 21, 21, 21, true));
    let full = Registry::ValidatorRegistryFull { maxValidators: U256::from(21) };
    chain.register(Person::Newcomer(16)).await.reverts_with(full);
    assert_eq!(chain.books().await[0], STAKE * U256::from(21));
}

#[tokio::test]
async fn validators_are_listed_by_page_in_order_of_registration() {
    let mut chain = TestChain::start().await;
    let _ = chain.expand(2).await.succeeds();
    let _ = chain.register(STRANGER).await.succeeds();
    let _ = chain.exit(Person::Validator(0)).await.succeeds();
    let everybody: Vec<Address> =
        (0..5).map(Person::Validator).chain([STRANGER]).map(Person::address).collect();
    for (offset, limit) in [(0, 2), (2, 3), (4, 100), (5, 1), (6, 1), (99, 1), (0, 0)] {
        let call = Registry::getValidatorsCall { offset: U256::from(offset), limit: U256::from(limit) };
        let page = chain.view(REGISTRY, &call).await;
        let listed: Vec<_> = page.iter().map(|validator| validator.operator).collect();
        let expected: Vec<_> = everybody.iter().copied().skip(offset).take(limit).collect();
        assert_eq!(listed, expected, "{limit} from {offset}");
    }
    let everything = Registry::getValidatorsCall { offset: U256::ZERO, limit: U256::MAX };
    assert_eq!(chain.view(REGISTRY, &everything).await.len(), 6, "former members included");
}

#[tokio::test]
async fn the_constants_are_those_of_the_program() {
    let chain = TestChain::start().await;
    assert_eq!(chain.view(REGISTRY, &Registry::MIN_STAKECall {}).await, STAKE);
    assert_eq!(chain.view(REGISTRY, &Registry::MAX_COMMISSION_BPSCall {}).await, 2_000);
    assert_eq!(chain.view(REGISTRY, &Registry::TARGET_VALIDATORSCall {}).await, U256::from(21));
    assert_eq!(chain.view(REGISTRY, &Registry::JAIL_DURATIONCall {}).await, 7 * DAY);
    assert_eq!(chain.view(REGISTRY, &Registry::UNBONDING_DURATIONCall {}).await, 7 * DAY);
    assert_eq!(chain.view(REGISTRY, &Registry::MAX_SLASHESCall {}).await, 3);
    assert_eq!(chain.view(REGISTRY, &Registry::REASON_DOWNTIMECall {}).await, 1);
    assert_eq!(chain.view(REGISTRY, &Registry::REASON_DOUBLE_SIGNCall {}).await, 2);
    assert_eq!(chain.view(REGISTRY, &Registry::DOWNTIME_PENALTY_BPSCall {}).await, U256::from(100));
    assert_eq!(chain.view(REGISTRY, &Registry::DOUBLE_SIGN_PENALTY_BPSCall {}).await, U256::from(500));
    assert_eq!(chain.view(REGISTRY, &Registry::treasuryCall {}).await, TREASURY);
}
