//! Slashing, jail, and what happens to penalties.

use alloy_primitives::{Address, U256};
use contracts::address::{REGISTRY, TREASURY};
use contracts::bindings::PlatformValidatorRegistry as Registry;

use super::{ACTIVE, DOUBLE_SIGN, DOWNTIME, INACTIVE, JAILED, NONE, SLASHED, wrong_status};
use crate::genesis::GENESIS_STAKE as STAKE;
use crate::genesis::tests::chain::{
    COIN, DAY, FUNDS, REFUSES, START, STRANGER, TestChain, assert_reverts, operator,
};

#[test]
fn slashing_jails_twice_and_removes_the_third_time() {
    let mut chain = TestChain::new();
    let slashed = operator(0);
    chain.slash(slashed, DOWNTIME).unwrap();
    let event: Registry::ValidatorSlashed = chain.event();
    let first = STAKE / U256::from(100);
    assert_eq!((event.reason, event.penalty, event.stake), (DOWNTIME, first, STAKE - first));
    assert_eq!(chain.event::<Registry::ValidatorJailed>().until, START + 7 * DAY);
    let record = chain.validator(slashed);
    assert_eq!((record.status, record.slashCount, record.jailedUntil), (JAILED, 1, START + 7 * DAY));

    chain.now += DAY;
    chain.slash(slashed, DOUBLE_SIGN).unwrap();
    let second = (STAKE - first) * U256::from(5) / U256::from(100);
    let record = chain.validator(slashed);
    assert_eq!((record.slashCount, record.stake), (2, STAKE - first - second));
    assert_eq!(record.jailedUntil, START + 8 * DAY, "the jail starts anew");
    assert_eq!(chain.open_slots(), 0, "a jailed validator keeps its slot");

    chain.slash(slashed, DOWNTIME).unwrap();
    let event: Registry::ValidatorRemoved = chain.event();
    assert_eq!((event.operator, event.status), (slashed, SLASHED));
    let record = chain.validator(slashed);
    assert_eq!((record.status, record.slashCount), (SLASHED, 3));
    assert_eq!((record.jailedUntil, record.withdrawableAt), (0, START + 8 * DAY));
    assert_eq!(chain.open_slots(), 1);

    assert_reverts(chain.slash(slashed, DOWNTIME), wrong_status(slashed, SLASHED));
    assert_reverts(chain.exit(slashed), wrong_status(slashed, SLASHED));
    assert_reverts(chain.reward(slashed, COIN), wrong_status(slashed, SLASHED));
    let locked = Registry::ValidatorRegistryStakeLocked { operator: slashed, until: START + 8 * DAY };
    assert_reverts(chain.withdraw(slashed), locked);
    chain.now = START + 8 * DAY;
    chain.withdraw(slashed).unwrap();
    assert_eq!(chain.balance(slashed), FUNDS + record.stake);
    assert_eq!(chain.validator(slashed).consensus, Address::ZERO);
    chain.expand(2);
    assert_reverts(chain.register(slashed), wrong_status(slashed, SLASHED));
}

#[test]
fn a_jail_ends_after_seven_days_and_not_before() {
    let mut chain = TestChain::new();
    let jailed = operator(1);
    assert_reverts(chain.unjail(jailed), wrong_status(jailed, ACTIVE));
    assert_reverts(chain.unjail(STRANGER), wrong_status(STRANGER, NONE));
    chain.slash(jailed, DOWNTIME).unwrap();
    chain.now = START + 7 * DAY - 1;
    let early = Registry::ValidatorRegistryStillJailed { operator: jailed, until: START + 7 * DAY };
    assert_reverts(chain.unjail(jailed), early);
    chain.now += 1;
    chain.unjail(jailed).unwrap();
    assert_eq!(chain.event::<Registry::ValidatorUnjailed>().operator, jailed);
    let record = chain.validator(jailed);
    assert_eq!((record.status, record.jailedUntil, record.slashCount), (ACTIVE, 0, 1));
}

#[test]
fn an_unknown_reason_or_a_stranger_is_not_slashed() {
    let mut chain = TestChain::new();
    for reason in [0, 3, 255] {
        assert_reverts(
            chain.slash(operator(0), reason),
            Registry::ValidatorRegistryUnknownSlashReason { reason },
        );
    }
    assert_reverts(chain.slash(STRANGER, DOWNTIME), wrong_status(STRANGER, NONE));
}

#[test]
fn penalties_wait_for_a_treasury_that_refuses_them() {
    let mut chain = TestChain::new();
    assert_reverts(
        chain.send(STRANGER, REGISTRY, Registry::withdrawPenaltiesCall {}),
        Registry::ValidatorRegistryNothingToPay {},
    );
    let code = chain.code(TREASURY);
    chain.set_code(TREASURY, REFUSES);
    chain.slash(operator(0), DOUBLE_SIGN).unwrap();
    let amount = STAKE / U256::from(20);
    assert_reverts(
        chain.send(STRANGER, REGISTRY, Registry::withdrawPenaltiesCall {}),
        Registry::ValidatorRegistryTransferFailed { recipient: TREASURY, amount },
    );
    assert_eq!(chain.view(REGISTRY, Registry::getAccountingCall {}).penalties, amount);
    chain.set_code(TREASURY, code);
    chain.send(STRANGER, REGISTRY, Registry::withdrawPenaltiesCall {}).unwrap();
    let event: Registry::PenaltiesWithdrawn = chain.event();
    assert_eq!((event.treasury, event.amount), (TREASURY, amount));
    assert_eq!(chain.balance(TREASURY), amount);
}

#[test]
fn leaving_does_not_escape_a_slash_and_coming_back_does_not_forget_it() {
    let mut chain = TestChain::new();
    let leaver = operator(2);
    chain.slash(leaver, DOWNTIME).unwrap();
    chain.exit(leaver).unwrap();
    chain.now += DAY;
    chain.slash(leaver, DOWNTIME).unwrap();
    let record = chain.validator(leaver);
    assert_eq!((record.status, record.slashCount), (INACTIVE, 2));
    assert_eq!(record.withdrawableAt, START + 8 * DAY, "the wait starts anew");
    chain.now = START + 8 * DAY;
    chain.withdraw(leaver).unwrap();
    chain.approve(leaver);
    chain.register(leaver).unwrap();
    chain.slash(leaver, DOWNTIME).unwrap();
    assert_eq!(chain.validator(leaver).status, SLASHED);
}

#[test]
fn the_third_slash_of_one_who_leaves_removes_it() {
    let mut chain = TestChain::new();
    let leaver = operator(2);
    chain.slash(leaver, DOWNTIME).unwrap();
    chain.slash(leaver, DOWNTIME).unwrap();
    chain.exit(leaver).unwrap();
    chain.slash(leaver, DOWNTIME).unwrap();
    assert_eq!(chain.validator(leaver).status, SLASHED);
    assert_eq!(chain.open_slots(), 1);
}
