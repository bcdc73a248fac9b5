//! What may happen in a random life: calls to every contract by everybody, sensible or not.

use alloy_primitives::{Address, B256, U256, keccak256};
use contracts::{
    address::{CHECKOUT, FEES, REGISTRY, TREASURY},
    bindings::{PlatformCheckout as Checkout, PlatformFees as Fees, PlatformValidatorRegistry as Registry},
    fees::FeeSource,
    quote::QuoteTerms,
};
use domain::Network;
use rand::{Rng, rngs::StdRng};
use testkit::Draft;

use crate::contracts::{
    chain::{STAKE, draft},
    person::{ADMIN, Person, SLASHER, STRANGER},
};

/// Newcomers that take part beside the five validators of the genesis.
const NEWCOMERS: usize = 7;

/// Who registers and pays.
pub(super) fn people() -> impl Iterator<Item = Person> {
    (0..5).map(Person::Validator).chain((0..NEWCOMERS).map(Person::Newcomer))
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Register { person: Person, extra: u64 },
    Approve { person: Person },
    Exit { person: Person },
    Withdraw { person: Person },
    Claim { person: Person },
    Reward { person: Person, wei: u64 },
    Slash { person: Person, reason: u8 },
    Unjail { person: Person },
    Remove { person: Person },
    MoveNode { person: Person, node: Person },
    TakePenalties,
    Expand { phase: u8 },
    SetMax { max: u64 },
    Open { open: bool },
    PayFee { person: Person, source: FeeSource, wei: u64 },
    TakeFees,
    PayQuote { person: Person, merchant: Person, wei: u64, short: u64, salt: u8 },
    Donate { person: Person, to: Address, wei: u64 },
}

impl Step {
    pub(super) fn random(random: &mut StdRng) -> Self {
        let person = any_of(random, &people().collect::<Vec<_>>());
        let other = any_of(random, &people().collect::<Vec<_>>());
        let wei = random.random::<u64>() >> random.random_range(0..64);
        match random.random_range(0..46) {
            0..6 => Self::Register { person, extra: random.random_range(0..200) },
            6 => Self::Approve { person },
            7..9 => Self::Exit { person },
            9..13 => Self::Withdraw { person },
            13..16 => Self::Claim { person },
            16..19 => Self::Reward { person, wei },
            19..24 => Self::Slash { person, reason: random.random_range(1..4) },
            24..29 => Self::Unjail { person },
            29 => Self::Remove { person },
            30..32 => Self::MoveNode { person, node: other },
            32 => Self::TakePenalties,
            33 => Self::Expand { phase: random.random_range(1..5) },
            34 => Self::SetMax { max: random.random_range(4..23) },
            35 => Self::Open { open: random.random_bool(0.7) },
            36..40 => Self::PayFee { person, source: any_of(random, &FeeSource::ALL), wei },
            40 => Self::TakeFees,
            41..44 => {
                let (short, salt) = (random.random_range(0..2), random.random_range(0..20));
                Self::PayQuote { person, merchant: other, wei, short, salt }
            }
            _ => Self::Donate { person, to: any_of(random, &[TREASURY, REGISTRY, FEES, CHECKOUT]), wei },
        }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Register { .. } => "register",
            Self::Approve { .. } => "approve",
            Self::Exit { .. } => "exit",
            Self::Withdraw { .. } => "withdraw",
            Self::Claim { .. } => "claim",
            Self::Reward { .. } => "reward",
            Self::Slash { .. } => "slash",
            Self::Unjail { .. } => "unjail",
            Self::Remove { .. } => "remove",
            Self::MoveNode { .. } => "move node",
            Self::TakePenalties => "take penalties",
            Self::Expand { .. } => "expand",
            Self::SetMax { .. } => "set max",
            Self::Open { .. } => "open",
            Self::PayFee { .. } => "pay fee",
            Self::TakeFees => "take fees",
            Self::PayQuote { .. } => "pay quote",
            Self::Donate { .. } => "donate",
        }
    }

    /// Who sends what.
    pub(super) fn transaction(self, now: u64) -> (Person, Draft) {
        match self {
            Self::Register { person, extra } => (person, register(STAKE + U256::from(extra))),
            Self::Exit { person } => (person, call(&Registry::requestExitCall {})),
            Self::Withdraw { person } => (person, call(&Registry::withdrawStakeCall {})),
            Self::Claim { person } => (person, call(&Registry::claimRewardsCall {})),
            Self::MoveNode { person, node } => {
                (person, call(&Registry::setConsensusAddressCall { consensus: node.address() }))
            }
            Self::Unjail { person } => {
                (STRANGER, call(&Registry::unjailValidatorCall { operator: person.address() }))
            }
            Self::TakePenalties => (STRANGER, call(&Registry::withdrawPenaltiesCall {})),
            Self::Slash { person, reason } => {
                (SLASHER, call(&Registry::slashValidatorCall { operator: person.address(), reason }))
            }
            Self::Reward { person, wei } => {
                let amount = U256::from(wei);
                let reward = Registry::distributeRewardsCall { operator: person.address(), amount };
                (ADMIN, draft(REGISTRY, amount, &reward))
            }
            Self::Remove { person } => {
                let (operator, reason) = (person.address(), String::new());
                (ADMIN, call(&Registry::removeValidatorCall { operator, reason }))
            }
            Self::Approve { person } => {
                let (operator, approved) = (person.address(), true);
                (ADMIN, call(&Registry::setOperatorApprovalCall { operator, approved }))
            }
            Self::Expand { phase } => (ADMIN, call(&Registry::expandToPhaseCall { phase })),
            Self::SetMax { max } => {
                (ADMIN, call(&Registry::setMaxValidatorsCall { maxValidators: U256::from(max) }))
            }
            Self::Open { open } => (ADMIN, call(&Registry::setCommunityRegistrationOpenCall { open })),
            Self::PayFee { person, source, wei } => (person, pay_fee(source, U256::from(wei))),
            Self::TakeFees => (STRANGER, draft(FEES, U256::ZERO, &Fees::withdrawCall {})),
            Self::PayQuote { person, merchant, wei, short, salt } => {
                let (amount, sent) = (U256::from(wei), U256::from(wei.saturating_sub(short)));
                (person, pay_quote(merchant, amount, sent, salt, now))
            }
            Self::Donate { person, to, wei } => {
                (person, Draft { value: U256::from(wei), ..Draft::call(to, Vec::new()) })
            }
        }
    }
}

fn any_of<T: Copy>(random: &mut StdRng, choices: &[T]) -> T {
    choices[random.random_range(0..choices.len())]
}

fn call(call: &impl alloy_sol_types::SolCall) -> Draft {
    draft(REGISTRY, U256::ZERO, call)
}

fn register(stake: U256) -> Draft {
    let (moniker, website) = ("random".to_owned(), String::new());
    let call = Registry::registerValidatorCall { moniker, website, stake, commissionBps: 0 };
    draft(REGISTRY, stake, &call)
}

fn pay_fee(source: FeeSource, amount: U256) -> Draft {
    draft(FEES, amount, &Fees::payCall { source: source.id(), r#ref: B256::ZERO })
}

/// Pays a quote that ends within the random waits between blocks, so that some come late.
fn pay_quote(merchant: Person, amount: U256, sent: U256, salt: u8, now: u64) -> Draft {
    let terms = QuoteTerms {
        chain_id: Network::Devnet.chain_id(),
        checkout: CHECKOUT,
        merchant: merchant.address(),
        amount,
        deadline: now + 200_000,
        salt: keccak256([salt]),
    };
    let call = Checkout::payCall {
        quoteId: terms.id(),
        merchant: terms.merchant,
        amount,
        deadline: U256::from(terms.deadline),
        salt: terms.salt,
    };
    draft(CHECKOUT, sent, &call)
}
