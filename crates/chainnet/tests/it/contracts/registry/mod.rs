//! `PlatformValidatorRegistry`: every function, role, refusal, event, phase and slash path.

mod hostility;
mod leaving;
mod node_address;
mod program;
mod registration;
mod removal;
mod rewards;
mod roles;
mod slashing;

use alloy_primitives::{Address, U256};
use contracts::{
    address::REGISTRY,
    bindings::{PlatformValidatorRegistry as Registry, registry::IPlatformValidatorRegistry::Validator},
};

use super::{
    chain::{STAKE, TestChain},
    outcome::Outcome,
    person::{ADMIN, Person, SLASHER, STRANGER},
};

const NONE: u8 = 0;
const ACTIVE: u8 = 1;
const JAILED: u8 = 2;
const INACTIVE: u8 = 3;
const SLASHED: u8 = 4;
const REMOVED: u8 = 5;

const DOWNTIME: u8 = 1;
const DOUBLE_SIGN: u8 = 2;

const COMMISSION_BPS: u16 = 2_000;

fn registration(stake: U256) -> Registry::registerValidatorCall {
    Registry::registerValidatorCall {
        moniker: "Newcomer".to_owned(),
        website: "https://newcomer.example".to_owned(),
        stake,
        commissionBps: COMMISSION_BPS,
    }
}

fn wrong_status(person: Person, status: u8) -> Registry::ValidatorRegistryWrongStatus {
    Registry::ValidatorRegistryWrongStatus { operator: person.address(), status }
}

fn not_approved(person: Person) -> Registry::ValidatorRegistryNotApproved {
    Registry::ValidatorRegistryNotApproved { operator: person.address() }
}

/// The registry's calls by name; each is mined in a block of its own.
impl TestChain {
    async fn registry(&mut self, from: Person, call: &impl alloy_sol_types::SolCall) -> Outcome {
        self.send(from, REGISTRY, call).await
    }

    async fn register(&mut self, person: Person) -> Outcome {
        self.pay(person, REGISTRY, STAKE, &registration(STAKE)).await
    }

    async fn approve(&mut self, person: Person, approved: bool) -> Outcome {
        let call = Registry::setOperatorApprovalCall { operator: person.address(), approved };
        self.registry(ADMIN, &call).await
    }

    async fn expand(&mut self, phase: u8) -> Outcome {
        self.registry(ADMIN, &Registry::expandToPhaseCall { phase }).await
    }

    async fn set_max(&mut self, max: u64) -> Outcome {
        self.registry(ADMIN, &Registry::setMaxValidatorsCall { maxValidators: U256::from(max) }).await
    }

    async fn open(&mut self, open: bool) -> Outcome {
        self.registry(ADMIN, &Registry::setCommunityRegistrationOpenCall { open }).await
    }

    async fn slash(&mut self, person: Person, reason: u8) -> Outcome {
        let call = Registry::slashValidatorCall { operator: person.address(), reason };
        self.registry(SLASHER, &call).await
    }

    async fn unjail(&mut self, person: Person) -> Outcome {
        let call = Registry::unjailValidatorCall { operator: person.address() };
        self.registry(STRANGER, &call).await
    }

    async fn remove(&mut self, person: Person) -> Outcome {
        let call = Registry::removeValidatorCall { operator: person.address(), reason: "rules".to_owned() };
        self.registry(ADMIN, &call).await
    }

    async fn exit(&mut self, person: Person) -> Outcome {
        self.registry(person, &Registry::requestExitCall {}).await
    }

    async fn withdraw(&mut self, person: Person) -> Outcome {
        self.registry(person, &Registry::withdrawStakeCall {}).await
    }

    async fn claim(&mut self, person: Person) -> Outcome {
        self.registry(person, &Registry::claimRewardsCall {}).await
    }

    async fn reward(&mut self, person: Person, amount: U256) -> Outcome {
        let call = Registry::distributeRewardsCall { operator: person.address(), amount };
        self.pay(ADMIN, REGISTRY, amount, &call).await
    }

    async fn set_node(&mut self, person: Person, consensus: Address) -> Outcome {
        self.registry(person, &Registry::setConsensusAddressCall { consensus }).await
    }

    async fn validator(&self, person: Person) -> Validator {
        self.view(REGISTRY, &Registry::getValidatorCall { operator: person.address() }).await
    }

    async fn status(&self, person: Person) -> u8 {
        self.validator(person).await.status
    }

    async fn open_slots(&self) -> u64 {
        self.view(REGISTRY, &Registry::getOpenSlotsCall {}).await.to()
    }

    /// Staked, unbonding, rewards, penalties; checked against the balance.
    async fn books(&self) -> [U256; 4] {
        let books = self.view(REGISTRY, &Registry::getAccountingCall {}).await;
        let parts = [books.staked, books.unbonding, books.rewards, books.penalties];
        assert_eq!(parts.into_iter().sum::<U256>(), self.balance(REGISTRY).await);
        parts
    }
}
