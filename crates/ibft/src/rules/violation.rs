//! What a header may do wrong.

use alloy_primitives::{Address, B64, B256, U256};

use crate::extra_data::ExtraDataError;

/// The first rule a header breaks, with the values that break it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleViolation {
    /// The header names another parent.
    #[error("parent hash {found} instead of {expected}")]
    ParentHash {
        /// In the header.
        found: B256,
        /// Hash of the parent.
        expected: B256,
    },
    /// The number does not follow the parent's.
    #[error("number {found} does not follow parent {parent}")]
    Number {
        /// In the header.
        found: u64,
        /// The parent's number.
        parent: u64,
    },
    /// More gas used than allowed.
    #[error("gas used {gas_used} exceeds the limit {gas_limit}")]
    GasUsed {
        /// Gas used.
        gas_used: u64,
        /// Gas limit.
        gas_limit: u64,
    },
    /// The gas limit is outside the absolute bounds.
    #[error("gas limit {gas_limit} is out of bounds")]
    GasLimitRange {
        /// Gas limit.
        gas_limit: u64,
    },
    /// The gas limit moved too far from the parent's.
    #[error("gas limit {gas_limit} is too far from the parent's {parent}")]
    GasLimitStep {
        /// Gas limit.
        gas_limit: u64,
        /// The parent's gas limit.
        parent: u64,
    },
    /// The block comes from the future.
    #[error("timestamp {timestamp} is later than {latest}")]
    FutureTimestamp {
        /// In the header.
        timestamp: u64,
        /// Latest timestamp accepted now.
        latest: u64,
    },
    /// The mix hash is not the constant.
    #[error("mix hash {found} is not the consensus constant")]
    MixHash {
        /// In the header.
        found: B256,
    },
    /// The block has ommers.
    #[error("ommers hash {found} is not that of an empty list")]
    Ommers {
        /// In the header.
        found: B256,
    },
    /// The difficulty is not one.
    #[error("difficulty {found} is not 1")]
    Difficulty {
        /// In the header.
        found: U256,
    },
    /// The nonce is not zero.
    #[error("nonce {found} is not zero")]
    Nonce {
        /// In the header.
        found: B64,
    },
    /// The extra data does not decode.
    #[error("extra data is not valid")]
    ExtraData(#[from] ExtraDataError),
    /// The listed validators are not ascending.
    #[error("validators are not in ascending order")]
    ValidatorOrder {
        /// In the header.
        found: Vec<Address>,
    },
    /// The listed validators are not the set in force.
    #[error("validators are not the set in force")]
    ValidatorSet {
        /// In the header.
        found: Vec<Address>,
        /// The set in force.
        expected: Vec<Address>,
    },
    /// The builder is not a validator.
    #[error("coinbase {found} is not a validator")]
    Coinbase {
        /// In the header.
        found: Address,
    },
    /// A seal is no signature of anybody.
    #[error("seal {index} recovers to no address")]
    UnrecoverableSeal {
        /// Position in the list.
        index: usize,
    },
    /// Two seals of one signer.
    #[error("{signer} sealed twice")]
    DuplicateSeal {
        /// Who sealed.
        signer: Address,
    },
    /// Fewer seals than the quorum.
    #[error("{found} seals instead of {needed}")]
    TooFewSeals {
        /// Seals in the header.
        found: usize,
        /// The quorum.
        needed: usize,
    },
    /// A seal of somebody who is not a validator.
    #[error("{signer} sealed without being a validator")]
    ForeignSeal {
        /// Who sealed.
        signer: Address,
    },
    /// The block period had not passed.
    #[error("timestamp {timestamp} is earlier than {earliest}")]
    EarlyTimestamp {
        /// In the header.
        timestamp: u64,
        /// Earliest timestamp allowed.
        earliest: u64,
    },
    /// The base fee is not the one that follows from the parent.
    #[error("base fee {found:?} instead of {expected:?}")]
    BaseFee {
        /// In the header.
        found: Option<u64>,
        /// What follows from the parent.
        expected: Option<u64>,
    },
}

impl RuleViolation {
    /// Short stable name of the broken rule.
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::ParentHash { .. } | Self::Number { .. } => "parent-link",
            Self::GasUsed { .. } => "gas-used",
            Self::GasLimitRange { .. } | Self::GasLimitStep { .. } => "gas-limit",
            Self::FutureTimestamp { .. } => "timestamp-drift",
            Self::MixHash { .. } => "mix-hash",
            Self::Ommers { .. } => "ommers",
            Self::Difficulty { .. } => "difficulty",
            Self::Nonce { .. } => "nonce",
            Self::ExtraData(_) => "extra-data",
            Self::ValidatorOrder { .. } | Self::ValidatorSet { .. } => "validators",
            Self::Coinbase { .. } => "coinbase",
            Self::UnrecoverableSeal { .. }
            | Self::DuplicateSeal { .. }
            | Self::TooFewSeals { .. }
            | Self::ForeignSeal { .. } => "commit-seals",
            Self::EarlyTimestamp { .. } => "block-period",
            Self::BaseFee { .. } => "base-fee",
        }
    }
}
