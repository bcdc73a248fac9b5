//! `PlatformValidatorRegistry`: every transition of a validator and every refusal.

mod membership;
mod program;
mod slashing;

use alloy_primitives::{Address, Bytes, U256};
use contracts::address::REGISTRY;
use contracts::bindings::PlatformValidatorRegistry as Registry;
use contracts::bindings::registry::IPlatformValidatorRegistry::Validator;

use super::chain::{ADMIN, SLASHER, STRANGER, TestChain};
use crate::genesis::GENESIS_STAKE as STAKE;

const NONE: u8 = 0;
const ACTIVE: u8 = 1;
const JAILED: u8 = 2;
const INACTIVE: u8 = 3;
const SLASHED: u8 = 4;
const REMOVED: u8 = 5;

const DOWNTIME: u8 = 1;
const DOUBLE_SIGN: u8 = 2;

fn register_call(stake: U256) -> Registry::registerValidatorCall {
    Registry::registerValidatorCall {
        moniker: "newcomer".into(),
        website: String::new(),
        stake,
        commissionBps: 2_000,
    }
}

/// The calls of the tests by name, on the registry.
impl TestChain {
    fn register(&mut self, from: Address) -> Result<(), Bytes> {
        self.pay(from, REGISTRY, STAKE, register_call(STAKE)).map(drop)
    }

    fn approve(&mut self, operator: Address) {
        let call = Registry::setOperatorApprovalCall { operator, approved: true };
        self.send(ADMIN, REGISTRY, call).unwrap();
    }

    fn expand(&mut self, phase: u8) {
        self.send(ADMIN, REGISTRY, Registry::expandToPhaseCall { phase }).unwrap();
    }

    fn slash(&mut self, operator: Address, reason: u8) -> Result<(), Bytes> {
        self.send(SLASHER, REGISTRY, Registry::slashValidatorCall { operator, reason }).map(drop)
    }

    fn unjail(&mut self, operator: Address) -> Result<(), Bytes> {
        self.send(STRANGER, REGISTRY, Registry::unjailValidatorCall { operator }).map(drop)
    }

    fn remove(&mut self, operator: Address) -> Result<(), Bytes> {
        let call = Registry::removeValidatorCall { operator, reason: "tests".into() };
        self.send(ADMIN, REGISTRY, call).map(drop)
    }

    fn exit(&mut self, from: Address) -> Result<(), Bytes> {
        self.send(from, REGISTRY, Registry::requestExitCall {}).map(drop)
    }

    fn withdraw(&mut self, from: Address) -> Result<(), Bytes> {
        self.send(from, REGISTRY, Registry::withdrawStakeCall {}).map(drop)
    }

    fn claim(&mut self, from: Address) -> Result<(), Bytes> {
        self.send(from, REGISTRY, Registry::claimRewardsCall {}).map(drop)
    }

    fn reward(&mut self, operator: Address, amount: U256) -> Result<(), Bytes> {
        let call = Registry::distributeRewardsCall { operator, amount };
        self.pay(ADMIN, REGISTRY, amount, call).map(drop)
    }

    fn set_consensus(&mut self, from: Address, consensus: Address) -> Result<(), Bytes> {
        self.send(from, REGISTRY, Registry::setConsensusAddressCall { consensus }).map(drop)
    }

    fn validator(&mut self, operator: Address) -> Validator {
        self.view(REGISTRY, Registry::getValidatorCall { operator })
    }

    fn open_slots(&mut self) -> u64 {
        self.view(REGISTRY, Registry::getOpenSlotsCall {}).to()
    }
}

fn wrong_status(operator: Address, status: u8) -> Registry::ValidatorRegistryWrongStatus {
    Registry::ValidatorRegistryWrongStatus { operator, status }
}
