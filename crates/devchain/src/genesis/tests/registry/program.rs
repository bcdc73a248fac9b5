//! Phases, roles, rewards and lists.

use alloy_primitives::{Address, B256, Bytes, U256, keccak256};
use alloy_sol_types::SolCall;
use contracts::address::REGISTRY;
use contracts::bindings::PlatformValidatorRegistry as Registry;

use super::{DOWNTIME, NONE, wrong_status};
use crate::genesis::GENESIS_STAKE as STAKE;
use crate::genesis::tests::chain::{
    ADMIN, COIN, DAY, FUNDS, REFUSES, SLASHER, STRANGER, TestChain, assert_reverts, calls_back, operator,
};

#[test]
fn an_expansion_opens_registration_to_everybody() {
    let mut chain = TestChain::new();
    chain.expand(2);
    let event: Registry::PhaseChanged = chain.event();
    assert_eq!((event.phase, event.maxValidators), (2, U256::from(11)));
    assert!(chain.view(REGISTRY, Registry::communityRegistrationOpenCall {}));
    assert_eq!(chain.open_slots(), 6);
    chain.register(operator(5)).unwrap();

    let close = Registry::setCommunityRegistrationOpenCall { open: false };
    chain.send(ADMIN, REGISTRY, close).unwrap();
    let event: Registry::CommunityRegistrationChanged = chain.event();
    assert!(!event.open);
    assert_reverts(
        chain.register(operator(6)),
        Registry::ValidatorRegistryNotApproved { operator: operator(6) },
    );
    chain.expand(3);
    assert_eq!(chain.open_slots(), 15);
    chain.expand(1);
    assert_eq!(chain.open_slots(), 0, "nobody is removed by a smaller phase");
    let status = chain.view(REGISTRY, Registry::getExpansionStatusCall {});
    assert_eq!((status.phase, status.current, status.max), (1, U256::from(6), U256::from(5)));
}

#[test]
fn rewards_are_set_aside_and_claimed() {
    let mut chain = TestChain::new();
    let earner = operator(3);
    assert_reverts(chain.claim(earner), Registry::ValidatorRegistryNothingToPay {});
    assert_reverts(chain.reward(earner, U256::ZERO), Registry::ValidatorRegistryNothingToPay {});
    assert_reverts(chain.reward(STRANGER, COIN), wrong_status(STRANGER, NONE));
    let wrong = Registry::distributeRewardsCall { operator: earner, amount: COIN };
    assert_reverts(
        chain.send(ADMIN, REGISTRY, wrong),
        Registry::ValidatorRegistryAmountMismatch { stated: COIN, sent: U256::ZERO },
    );
    chain.reward(earner, COIN).unwrap();
    assert_eq!(chain.event::<Registry::RewardsDistributed>().amount, COIN);
    chain.reward(earner, COIN).unwrap();
    for _ in 0..3 {
        chain.slash(earner, DOWNTIME).unwrap();
    }
    chain.claim(earner).unwrap();
    assert_eq!(chain.event::<Registry::RewardsClaimed>().amount, COIN + COIN);
    assert_eq!(chain.balance(earner), FUNDS + COIN + COIN, "earned before the removal");
}

#[test]
fn only_roles_run_the_program() {
    let mut chain = TestChain::new();
    let (admin, slasher) = (keccak256("ADMIN_ROLE"), keccak256("SLASHER_ROLE"));
    let operator = operator(0);
    let calls: [(B256, Vec<u8>); 7] = [
        (admin, Registry::distributeRewardsCall { operator, amount: U256::ZERO }.abi_encode()),
        (admin, Registry::setMaxValidatorsCall { maxValidators: U256::ONE }.abi_encode()),
        (admin, Registry::expandToPhaseCall { phase: 2 }.abi_encode()),
        (admin, Registry::setCommunityRegistrationOpenCall { open: true }.abi_encode()),
        (admin, Registry::setOperatorApprovalCall { operator, approved: true }.abi_encode()),
        (admin, Registry::removeValidatorCall { operator, reason: String::new() }.abi_encode()),
        (slasher, Registry::slashValidatorCall { operator, reason: 1 }.abi_encode()),
    ];
    for (role, call) in calls {
        let account = if role == admin { SLASHER } else { ADMIN };
        assert_reverts(
            chain.raw(account, REGISTRY, U256::ZERO, call.into()),
            Registry::AccessControlUnauthorizedAccount { account, neededRole: role },
        );
    }
}

#[test]
fn settings_out_of_range_are_refused() {
    let mut chain = TestChain::new();
    for phase in [0, 4] {
        assert_reverts(
            chain.send(ADMIN, REGISTRY, Registry::expandToPhaseCall { phase }),
            Registry::ValidatorRegistryUnknownPhase { phase },
        );
    }
    for max in [U256::ZERO, U256::from(22)] {
        assert_reverts(
            chain.send(ADMIN, REGISTRY, Registry::setMaxValidatorsCall { maxValidators: max }),
            Registry::ValidatorRegistryMaxOutOfRange { maxValidators: max },
        );
    }
    let nobody = Registry::setOperatorApprovalCall { operator: Address::ZERO, approved: true };
    assert_reverts(chain.send(ADMIN, REGISTRY, nobody), Registry::ValidatorRegistryZeroAddress {});
    assert!(chain.raw(STRANGER, REGISTRY, COIN, Bytes::new()).is_err(), "plain transfers revert");
}

#[test]
fn validators_are_listed_by_page() {
    let mut chain = TestChain::new();
    let mut page = |offset: u64, limit: u64| -> Vec<Address> {
        let call = Registry::getValidatorsCall { offset: U256::from(offset), limit: U256::from(limit) };
        chain.view(REGISTRY, call).iter().map(|validator| validator.operator).collect()
    };
    assert_eq!(page(0, 2), [operator(0), operator(1)]);
    assert_eq!(page(4, 2), [operator(4)]);
    assert!(page(5, 2).is_empty() && page(99, 2).is_empty() && page(0, 0).is_empty());
}

#[test]
fn a_recipient_cannot_be_paid_twice_from_within() {
    let mut chain = TestChain::new();
    let greedy = operator(4);
    chain.reward(greedy, COIN).unwrap();
    chain.exit(greedy).unwrap();
    chain.now += 7 * DAY;
    chain.set_code(greedy, calls_back(REGISTRY, &Registry::withdrawStakeCall::SELECTOR));
    chain.claim(greedy).unwrap();
    assert_eq!(chain.balance(greedy), FUNDS + COIN);
    chain.withdraw(greedy).unwrap();
    assert_eq!(chain.balance(greedy), FUNDS + COIN + STAKE);
    chain.set_code(operator(3), REFUSES);
    chain.reward(operator(3), COIN).unwrap();
    assert_reverts(
        chain.claim(operator(3)),
        Registry::ValidatorRegistryTransferFailed { recipient: operator(3), amount: COIN },
    );
}
