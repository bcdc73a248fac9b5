//! Registering, leaving, being removed, and coming back.

use alloy_primitives::{Address, U256};
use contracts::address::REGISTRY;
use contracts::bindings::PlatformValidatorRegistry as Registry;

use super::{ACTIVE, DOWNTIME, INACTIVE, NONE, REMOVED, SLASHED, register_call, wrong_status};
use crate::genesis::GENESIS_STAKE as STAKE;
use crate::genesis::tests::chain::{ADMIN, DAY, START, STRANGER, TestChain, assert_reverts, node, operator};

#[test]
fn a_full_or_closed_set_lets_nobody_in() {
    let mut chain = TestChain::new();
    let newcomer = operator(5);
    assert_reverts(chain.register(newcomer), Registry::ValidatorRegistryNotApproved { operator: newcomer });
    chain.approve(newcomer);
    assert!(chain.view(REGISTRY, Registry::isOperatorApprovedCall { operator: newcomer }));
    assert_reverts(
        chain.register(newcomer),
        Registry::ValidatorRegistryFull { maxValidators: U256::from(5) },
    );

    chain.send(ADMIN, REGISTRY, Registry::setMaxValidatorsCall { maxValidators: U256::from(6) }).unwrap();
    chain.register(newcomer).unwrap();
    let event: Registry::ValidatorRegistered = chain.event();
    assert_eq!((event.operator, event.stake, event.commissionBps), (newcomer, STAKE, 2_000));
    assert!(!chain.view(REGISTRY, Registry::isOperatorApprovedCall { operator: newcomer }));
    assert_eq!(chain.validator(newcomer).status, ACTIVE);
    assert_eq!(chain.open_slots(), 0);
    assert_reverts(chain.register(newcomer), wrong_status(newcomer, ACTIVE));
}

#[test]
fn the_terms_of_a_registration_are_checked() {
    let mut chain = TestChain::new();
    chain.expand(2);
    let good = || register_call(STAKE);
    let mut refused =
        |value: U256, call: Registry::registerValidatorCall| chain.pay(operator(5), REGISTRY, value, call);
    let moniker = |length: usize| Registry::registerValidatorCall { moniker: "x".repeat(length), ..good() };
    for length in [0, 2, 161] {
        assert_reverts(
            refused(STAKE, moniker(length)),
            Registry::ValidatorRegistryMonikerLength { length: U256::from(length) },
        );
    }
    let website = Registry::registerValidatorCall { website: "x".repeat(257), ..good() };
    assert_reverts(
        refused(STAKE, website),
        Registry::ValidatorRegistryWebsiteLength { length: U256::from(257) },
    );
    assert_reverts(
        refused(STAKE, Registry::registerValidatorCall { commissionBps: 2_001, ..good() }),
        Registry::ValidatorRegistryCommissionTooHigh { commissionBps: 2_001, maximum: 2_000 },
    );
    assert_reverts(
        refused(STAKE + U256::ONE, good()),
        Registry::ValidatorRegistryAmountMismatch { stated: STAKE, sent: STAKE + U256::ONE },
    );
    let little = STAKE - U256::ONE;
    assert_reverts(
        refused(little, register_call(little)),
        Registry::ValidatorRegistryStakeTooLow { stake: little, minimum: STAKE },
    );
    assert!(refused(STAKE, moniker(160)).is_ok());
}

#[test]
fn leaving_frees_the_slot_at_once_and_the_stake_after_seven_days() {
    let mut chain = TestChain::new();
    let leaver = operator(2);
    assert_reverts(chain.withdraw(leaver), wrong_status(leaver, ACTIVE));
    assert_reverts(chain.withdraw(STRANGER), wrong_status(STRANGER, NONE));
    chain.exit(leaver).unwrap();
    let event: Registry::ExitRequested = chain.event();
    assert_eq!((event.stake, event.withdrawableAt), (STAKE, START + 7 * DAY));
    assert_eq!(chain.validator(leaver).status, INACTIVE);
    assert_eq!(chain.open_slots(), 1);
    assert_reverts(chain.exit(leaver), wrong_status(leaver, INACTIVE));
    chain.approve(leaver);
    assert_reverts(chain.register(leaver), wrong_status(leaver, INACTIVE));

    chain.now = START + 7 * DAY;
    chain.withdraw(leaver).unwrap();
    assert_eq!(chain.event::<Registry::StakeWithdrawn>().amount, STAKE);
    assert_reverts(chain.withdraw(leaver), Registry::ValidatorRegistryNothingToPay {});
    assert_reverts(chain.slash(leaver, DOWNTIME), wrong_status(leaver, INACTIVE));

    chain.register(leaver).unwrap();
    let record = chain.validator(leaver);
    assert_eq!((record.status, record.consensus, record.withdrawableAt), (ACTIVE, leaver, 0));
    assert_eq!(record.registeredAt, chain.now);
    assert_eq!(chain.view(REGISTRY, Registry::validatorCountCall {}), U256::from(5), "listed once");
}

#[test]
fn removal_takes_slashed_and_inactive_validators_only() {
    let mut chain = TestChain::new();
    assert_reverts(
        chain.remove(operator(0)),
        Registry::ValidatorRegistryNotRemovable { operator: operator(0) },
    );
    assert_reverts(chain.remove(STRANGER), wrong_status(STRANGER, NONE));

    chain.slash(operator(0), DOWNTIME).unwrap();
    chain.remove(operator(0)).unwrap();
    let event: Registry::ValidatorRemoved = chain.event();
    assert_eq!((event.operator, event.status, event.reason.as_str()), (operator(0), REMOVED, "tests"));
    assert_reverts(chain.remove(operator(0)), wrong_status(operator(0), REMOVED));
    assert_reverts(chain.slash(operator(0), DOWNTIME), wrong_status(operator(0), REMOVED));

    chain.slash(operator(1), DOWNTIME).unwrap();
    chain.now += 7 * DAY;
    chain.unjail(operator(1)).unwrap();
    chain.remove(operator(1)).unwrap();

    chain.exit(operator(2)).unwrap();
    let until = chain.validator(operator(2)).withdrawableAt;
    chain.now += DAY;
    chain.remove(operator(2)).unwrap();
    assert_eq!(chain.validator(operator(2)).withdrawableAt, until, "the running wait goes on");

    assert_eq!(chain.open_slots(), 3);
    chain.now += 7 * DAY;
    for index in 0..3 {
        chain.withdraw(operator(index)).unwrap();
        assert_eq!(chain.validator(operator(index)).status, REMOVED);
    }
}

#[test]
fn a_removed_validator_comes_back_only_with_approval() {
    let mut chain = TestChain::new();
    let removed = operator(0);
    for _ in 0..3 {
        chain.slash(removed, DOWNTIME).unwrap();
    }
    chain.remove(removed).unwrap();
    assert_eq!(chain.validator(removed).status, REMOVED);
    chain.expand(3);
    chain.now += 7 * DAY;
    assert_reverts(chain.register(removed), wrong_status(removed, REMOVED));
    chain.withdraw(removed).unwrap();
    assert_reverts(chain.register(removed), Registry::ValidatorRegistryNotApproved { operator: removed });
    chain.approve(removed);
    chain.register(removed).unwrap();
    chain.slash(removed, DOWNTIME).unwrap();
    let record = chain.validator(removed);
    assert_eq!((record.status, record.slashCount), (SLASHED, 3), "the next slash is one too many");
}

#[test]
fn a_node_address_belongs_to_one_operator_and_its_key_has_the_last_word() {
    let mut chain = TestChain::new();
    let (first, second) = (operator(0), operator(1));
    assert_reverts(
        chain.set_consensus(first, node(1)),
        Registry::ValidatorRegistryConsensusAddressTaken { consensus: node(1), operator: second },
    );
    assert_reverts(chain.set_consensus(first, Address::ZERO), Registry::ValidatorRegistryZeroAddress {});
    assert_reverts(chain.set_consensus(STRANGER, node(9)), wrong_status(STRANGER, NONE));

    // The first operator claims the address of somebody who is about to register.
    let newcomer = operator(5);
    chain.set_consensus(first, newcomer).unwrap();
    let event: Registry::ConsensusAddressChanged = chain.event();
    assert_eq!((event.operator, event.previous, event.current), (first, node(0), newcomer));
    chain.set_consensus(second, node(0)).unwrap();
    chain.expand(2);
    chain.register(newcomer).unwrap();
    assert_eq!(chain.validator(first).consensus, Address::ZERO);
    assert_eq!(chain.view(REGISTRY, Registry::operatorOfCall { consensus: newcomer }), newcomer);

    chain.send(node(0), REGISTRY, Registry::releaseConsensusAddressCall {}).unwrap();
    assert_eq!(chain.validator(second).consensus, Address::ZERO);
    assert_reverts(
        chain.send(node(0), REGISTRY, Registry::releaseConsensusAddressCall {}),
        Registry::ValidatorRegistryConsensusAddressUnknown { consensus: node(0) },
    );
    chain.set_consensus(first, node(0)).unwrap();
    assert_eq!(chain.view(REGISTRY, Registry::operatorOfCall { consensus: node(0) }), first);
}
