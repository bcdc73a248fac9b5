//! Whether a header may follow its parent: the rules Besu applies on import, in Besu's order, and the base-fee rule
//! that Besu leaves to transaction execution. Not here: transactions, receipts and state.

mod violation;

use std::collections::BTreeSet;

use alloy_consensus::{EMPTY_OMMER_ROOT_HASH, Header};
use alloy_eips::eip1559::BaseFeeParams;
use alloy_primitives::{Address, B64, B256, U256, b256};

use crate::config::{BaseFee, IbftConfig};
use crate::extra_data::ExtraData;
use crate::hash::seal_hash_with;
use crate::quorum::quorum;
use crate::seal::SealScheme;

pub use violation::RuleViolation;

/// `mixHash` of every header: "ctical byzantine fault tolerance" in ASCII.
pub const MIX_HASH: B256 = b256!("0x63746963616c2062797a616e74696e65206661756c7420746f6c6572616e6365");
/// Difficulty of every block.
pub const DIFFICULTY: U256 = U256::ONE;
/// Least gas limit of a block.
pub const MIN_GAS_LIMIT: u64 = 5000;
/// Greatest gas limit of a block.
pub const MAX_GAS_LIMIT: u64 = i64::MAX as u64;
/// The gas limit moves by less than this fraction of the parent's.
pub const GAS_LIMIT_BOUND_DIVISOR: u64 = 1024;
/// How far ahead of our clock a timestamp may be.
pub const MAX_CLOCK_DRIFT_SECS: u64 = 1;

/// What a header is judged against.
#[derive(Debug, Clone, Copy)]
pub struct HeaderContext<'a> {
    /// The parent's header.
    pub parent: &'a Header,
    /// The parent's [`crate::hash::block_hash`].
    pub parent_hash: B256,
    /// The set in force after the parent, ascending ([`crate::votes::VoteTally::validators`]).
    pub validators: &'a [Address],
    /// The chain's settings.
    pub config: &'a IbftConfig,
    /// The clock, in seconds since the Unix epoch.
    pub now_secs: u64,
}

/// Judges a sealed block on import: every rule.
pub fn check_sealed(
    header: &Header,
    context: &HeaderContext<'_>,
    scheme: &impl SealScheme,
) -> Result<(), RuleViolation> {
    check(header, context, |extra| check_seals(header, extra, context.validators, scheme))
}

/// Judges a proposal, which has no seals yet: every rule but the one about seals.
pub fn check_proposal(header: &Header, context: &HeaderContext<'_>) -> Result<(), RuleViolation> {
    check(header, context, |_| Ok(()))
}

/// The base fee the child of `parent` must have. `None` if EIP-1559 applies and the parent has none.
pub fn next_base_fee(parent: &Header, config: &IbftConfig) -> Option<u64> {
    match config.base_fee {
        BaseFee::Zero => Some(0),
        BaseFee::Eip1559 => parent.next_block_base_fee(BaseFeeParams::ethereum()),
    }
}

fn check(
    header: &Header,
    context: &HeaderContext<'_>,
    seals: impl FnOnce(&ExtraData) -> Result<(), RuleViolation>,
) -> Result<(), RuleViolation> {
    check_link(header, context)?;
    check_gas(header, context.parent)?;
    let latest = context.now_secs.saturating_add(MAX_CLOCK_DRIFT_SECS);
    if header.timestamp > latest {
        return Err(RuleViolation::FutureTimestamp { timestamp: header.timestamp, latest });
    }
    check_constants(header)?;
    let extra = ExtraData::decode(&header.extra_data)?;
    check_validators(header, &extra, context.validators)?;
    seals(&extra)?;
    let earliest = context.parent.timestamp.saturating_add(context.config.block_period_secs);
    if header.timestamp < earliest {
        return Err(RuleViolation::EarlyTimestamp { timestamp: header.timestamp, earliest });
    }
    let expected = next_base_fee(context.parent, context.config);
    if header.base_fee_per_gas != expected {
        return Err(RuleViolation::BaseFee { found: header.base_fee_per_gas, expected });
    }
    Ok(())
}

fn check_link(header: &Header, context: &HeaderContext<'_>) -> Result<(), RuleViolation> {
    if header.parent_hash != context.parent_hash {
        return Err(RuleViolation::ParentHash { found: header.parent_hash, expected: context.parent_hash });
    }
    let parent = context.parent.number;
    if parent.checked_add(1) != Some(header.number) {
        return Err(RuleViolation::Number { found: header.number, parent });
    }
    Ok(())
}

fn check_gas(header: &Header, parent: &Header) -> Result<(), RuleViolation> {
    let (gas_used, gas_limit) = (header.gas_used, header.gas_limit);
    if gas_used > gas_limit {
        return Err(RuleViolation::GasUsed { gas_used, gas_limit });
    }
    if !(MIN_GAS_LIMIT..=MAX_GAS_LIMIT).contains(&gas_limit) {
        return Err(RuleViolation::GasLimitRange { gas_limit });
    }
    if gas_limit.abs_diff(parent.gas_limit) >= parent.gas_limit / GAS_LIMIT_BOUND_DIVISOR {
        return Err(RuleViolation::GasLimitStep { gas_limit, parent: parent.gas_limit });
    }
    Ok(())
}

fn check_constants(header: &Header) -> Result<(), RuleViolation> {
    if header.mix_hash != MIX_HASH {
        return Err(RuleViolation::MixHash { found: header.mix_hash });
    }
    if header.ommers_hash != EMPTY_OMMER_ROOT_HASH {
        return Err(RuleViolation::Ommers { found: header.ommers_hash });
    }
    if header.difficulty != DIFFICULTY {
        return Err(RuleViolation::Difficulty { found: header.difficulty });
    }
    if header.nonce != B64::ZERO {
        return Err(RuleViolation::Nonce { found: header.nonce });
    }
    Ok(())
}

fn check_validators(header: &Header, extra: &ExtraData, expected: &[Address]) -> Result<(), RuleViolation> {
    if !extra.validators.is_sorted() {
        return Err(RuleViolation::ValidatorOrder { found: extra.validators.clone() });
    }
    if extra.validators != expected {
        let (found, expected) = (extra.validators.clone(), expected.to_vec());
        return Err(RuleViolation::ValidatorSet { found, expected });
    }
    if !expected.contains(&header.beneficiary) {
        return Err(RuleViolation::Coinbase { found: header.beneficiary });
    }
    Ok(())
}

fn check_seals(
    header: &Header,
    extra: &ExtraData,
    validators: &[Address],
    scheme: &impl SealScheme,
) -> Result<(), RuleViolation> {
    let digest = seal_hash_with(header, extra);
    let mut signers = BTreeSet::new();
    let mut strangers = Vec::new();
    for (index, seal) in extra.seals.iter().enumerate() {
        let signer = scheme.recover(digest, seal).ok_or(RuleViolation::UnrecoverableSeal { index })?;
        if !signers.insert(signer) {
            return Err(RuleViolation::DuplicateSeal { signer });
        }
        if !validators.contains(&signer) {
            strangers.push(signer);
        }
    }
    let needed = quorum(validators.len());
    if signers.len() < needed {
        return Err(RuleViolation::TooFewSeals { found: signers.len(), needed });
    }
    match strangers.first() {
        Some(&signer) => Err(RuleViolation::ForeignSeal { signer }),
        None => Ok(()),
    }
}
