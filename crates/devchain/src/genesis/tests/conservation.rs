//! Whatever is called in whatever order, the registry neither loses nor makes a wei, and its counts agree.

use alloy_primitives::{Address, U256};
use alloy_sol_types::SolCall;
use contracts::address::{REGISTRY, TREASURY};
use contracts::bindings::PlatformValidatorRegistry as Registry;
use proptest::prelude::*;

use super::chain::{ADMIN, COIN, DAY, FUNDS, SLASHER, STRANGER, TestChain, operator};
use crate::genesis::GENESIS_STAKE;

/// Operators that take part: the five of genesis and five outsiders.
const OPERATORS: u8 = 10;

#[derive(Clone, Copy, Debug)]
enum Step {
    Register { operator: u8, extra: u64 },
    Approve { operator: u8 },
    Exit { operator: u8 },
    Withdraw { operator: u8 },
    Claim { operator: u8 },
    Reward { operator: u8, wei: u64 },
    Slash { operator: u8, reason: u8 },
    Unjail { operator: u8 },
    Remove { operator: u8 },
    MoveNode { operator: u8, node: u8 },
    TakePenalties,
    Expand { phase: u8 },
    SetMax { max: u64 },
    Open { open: bool },
    Wait { days: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    let operator = 0..OPERATORS;
    prop_oneof![
        4 => (operator.clone(), 0..3_u64).prop_map(|(operator, extra)| Step::Register { operator, extra }),
        1 => operator.clone().prop_map(|operator| Step::Approve { operator }),
        3 => operator.clone().prop_map(|operator| Step::Exit { operator }),
        4 => operator.clone().prop_map(|operator| Step::Withdraw { operator }),
        2 => operator.clone().prop_map(|operator| Step::Claim { operator }),
        3 => (operator.clone(), any::<u64>()).prop_map(|(operator, wei)| Step::Reward { operator, wei }),
        6 => (operator.clone(), 0..4_u8).prop_map(|(operator, reason)| Step::Slash { operator, reason }),
        3 => operator.clone().prop_map(|operator| Step::Unjail { operator }),
        2 => operator.clone().prop_map(|operator| Step::Remove { operator }),
        2 => (operator, 0..OPERATORS).prop_map(|(operator, node)| Step::MoveNode { operator, node }),
        1 => Just(Step::TakePenalties),
        1 => (0..5_u8).prop_map(|phase| Step::Expand { phase }),
        1 => (0..23_u64).prop_map(|max| Step::SetMax { max }),
        1 => any::<bool>().prop_map(|open| Step::Open { open }),
        3 => (1..9_u64).prop_map(|days| Step::Wait { days }),
    ]
}

/// Does the step; a revert is one of its possible outcomes.
fn take(chain: &mut TestChain, step: Step) {
    let (from, value, data) = match step {
        Step::Register { operator: index, extra } => {
            let stake = GENESIS_STAKE + U256::from(extra);
            let call = Registry::registerValidatorCall {
                moniker: format!("operator {index}"),
                website: String::new(),
                stake,
                commissionBps: 0,
            };
            (operator(index), stake, call.abi_encode())
        }
        Step::Approve { operator: index } => {
            let call = Registry::setOperatorApprovalCall { operator: operator(index), approved: true };
            (ADMIN, U256::ZERO, call.abi_encode())
        }
        Step::Exit { operator: index } => {
            (operator(index), U256::ZERO, Registry::requestExitCall {}.abi_encode())
        }
        Step::Withdraw { operator: index } => {
            (operator(index), U256::ZERO, Registry::withdrawStakeCall {}.abi_encode())
        }
        Step::Claim { operator: index } => {
            (operator(index), U256::ZERO, Registry::claimRewardsCall {}.abi_encode())
        }
        Step::Reward { operator: index, wei } => {
            let amount = U256::from(wei);
            let call = Registry::distributeRewardsCall { operator: operator(index), amount };
            (ADMIN, amount, call.abi_encode())
        }
        Step::Slash { operator: index, reason } => {
            let call = Registry::slashValidatorCall { operator: operator(index), reason };
            (SLASHER, U256::ZERO, call.abi_encode())
        }
        Step::Unjail { operator: index } => {
            let call = Registry::unjailValidatorCall { operator: operator(index) };
            (STRANGER, U256::ZERO, call.abi_encode())
        }
        Step::Remove { operator: index } => {
            let call = Registry::removeValidatorCall { operator: operator(index), reason: String::new() };
            (ADMIN, U256::ZERO, call.abi_encode())
        }
        Step::MoveNode { operator: index, node } => {
            let call = Registry::setConsensusAddressCall { consensus: operator(node) };
            (operator(index), U256::ZERO, call.abi_encode())
        }
        Step::TakePenalties => (STRANGER, U256::ZERO, Registry::withdrawPenaltiesCall {}.abi_encode()),
        Step::Expand { phase } => (ADMIN, U256::ZERO, Registry::expandToPhaseCall { phase }.abi_encode()),
        Step::SetMax { max } => {
            let call = Registry::setMaxValidatorsCall { maxValidators: U256::from(max) };
            (ADMIN, U256::ZERO, call.abi_encode())
        }
        Step::Open { open } => {
            (ADMIN, U256::ZERO, Registry::setCommunityRegistrationOpenCall { open }.abi_encode())
        }
        Step::Wait { days } => {
            chain.now += days * DAY;
            return;
        }
    };
    let _ = chain.raw(from, REGISTRY, value, data.into());
}

/// Everything that must hold between two steps.
fn check(chain: &mut TestChain) {
    let books = chain.view(REGISTRY, Registry::getAccountingCall {});
    let parts = books.staked + books.unbonding + books.rewards + books.penalties;
    assert_eq!(chain.balance(REGISTRY), parts);

    let page = Registry::getValidatorsCall { offset: U256::ZERO, limit: U256::MAX };
    let validators = chain.view(REGISTRY, page);
    let (members, others): (Vec<_>, Vec<_>) =
        validators.iter().partition(|validator| matches!(validator.status, 1 | 2));
    assert_eq!(books.staked, members.iter().map(|validator| validator.stake).sum::<U256>());
    assert_eq!(books.unbonding, others.iter().map(|validator| validator.stake).sum::<U256>());
    assert_eq!(books.rewards, validators.iter().map(|validator| validator.rewards).sum::<U256>());
    let status = chain.view(REGISTRY, Registry::getExpansionStatusCall {});
    assert_eq!(status.current, U256::from(members.len()));
    for validator in &validators {
        assert!(validator.slashCount <= 3);
        assert_eq!(validator.status == 2, validator.jailedUntil != 0);
        if validator.consensus != Address::ZERO {
            let holder = chain.view(REGISTRY, Registry::operatorOfCall { consensus: validator.consensus });
            assert_eq!(holder, validator.operator);
        }
    }

    let people = (0..OPERATORS).map(operator).chain([ADMIN, SLASHER, STRANGER, TREASURY, REGISTRY]);
    let total: U256 = people.map(|account| chain.balance(account)).sum();
    assert_eq!(total, FUNDS * U256::from(OPERATORS + 3) + GENESIS_STAKE * U256::from(5));
}

/// Lets everybody leave; afterwards the registry is empty.
fn wind_up(chain: &mut TestChain) {
    for index in 0..OPERATORS {
        take(chain, Step::Exit { operator: index });
    }
    take(chain, Step::Wait { days: 7 });
    for index in 0..OPERATORS {
        take(chain, Step::Withdraw { operator: index });
        take(chain, Step::Claim { operator: index });
    }
    take(chain, Step::TakePenalties);
    check(chain);
    assert_eq!(chain.balance(REGISTRY), U256::ZERO);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn no_sequence_of_calls_loses_or_makes_a_wei(steps in prop::collection::vec(step(), 1..80)) {
        let mut chain = TestChain::new();
        take(&mut chain, Step::Expand { phase: 2 });
        for step in steps {
            take(&mut chain, step);
            check(&mut chain);
        }
        wind_up(&mut chain);
    }
}

#[test]
fn a_stake_above_the_minimum_is_returned_to_the_wei() {
    let mut chain = TestChain::new();
    take(&mut chain, Step::Expand { phase: 2 });
    take(&mut chain, Step::Register { operator: 7, extra: 12_345 });
    assert_eq!(chain.balance(operator(7)), FUNDS - GENESIS_STAKE - U256::from(12_345));
    wind_up(&mut chain);
    assert_eq!(chain.balance(operator(7)), FUNDS);
    assert!(FUNDS > GENESIS_STAKE + COIN);
}
