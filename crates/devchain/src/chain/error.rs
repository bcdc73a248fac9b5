//! Why the chain could not be opened, extended or given a transaction.

use std::path::{Path, PathBuf};

use alloy_primitives::B256;
use ibft::{extra_data::ExtraDataError, rules::RuleViolation};

use crate::{exec::ExecError, genesis::GenesisError, pool::PoolError, state::StateError, store::StoreError};

/// Why the chain could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The state failed.
    #[error(transparent)]
    State(#[from] StateError),
}

/// Why a data directory could not be opened as a chain.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The store could not be opened or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The state could not be read or made.
    #[error("cannot build the state")]
    State(#[from] StateError),
    /// The genesis file is not usable.
    #[error("the genesis is not usable")]
    Genesis(#[from] GenesisError),
    /// A stored header does not carry IBFT extraData.
    #[error("block {number} in the data directory has no valid IBFT extraData")]
    ExtraData {
        /// Height of the block.
        number: u64,
        /// What is wrong with it.
        source: ExtraDataError,
    },
    /// The directory belongs to a chain with another genesis.
    #[error(
        "{} holds a chain with genesis {found}, not {expected}: it was made with another genesis file or version; \
         choose another directory with --data or CHAINNET_DATA, or remove it to start afresh",
        dir.display()
    )]
    OtherGenesis {
        /// The data directory.
        dir: PathBuf,
        /// Genesis hash in the directory.
        found: B256,
        /// Genesis hash asked for.
        expected: B256,
    },
    /// A block that the head refers to is missing.
    #[error(
        "block {0} is missing from the data directory; restore a backup, or remove the directory to start afresh"
    )]
    MissingBlock(u64),
    /// Something in the directory cannot be read.
    #[error(
        "the chain in {} cannot be read; restore it from a backup, or move it away to start a fresh chain",
        dir.display()
    )]
    Unreadable {
        /// The data directory.
        dir: PathBuf,
        /// What could not be read, and why.
        source: Box<OpenError>,
    },
}

impl OpenError {
    /// Adds what to do to the errors that do not say it themselves.
    pub(super) fn with_advice(self, dir: &Path) -> Self {
        let advised = match &self {
            Self::Store(error) => match error {
                StoreError::Foreign { .. }
                | StoreError::UnknownFormat { .. }
                | StoreError::InUse { .. }
                | StoreError::Directory { .. }
                | StoreError::Damaged { .. } => true,
                StoreError::CorruptRecord { .. }
                | StoreError::CorruptIndex { .. }
                | StoreError::OutOfOrder { .. }
                | StoreError::UnknownBlock(_)
                | StoreError::Engine(_) => false,
            },
            Self::Genesis(_)
            | Self::OtherGenesis { .. }
            | Self::MissingBlock(_)
            | Self::Unreadable { .. } => true,
            Self::State(_) | Self::ExtraData { .. } => false,
        };
        if advised { self } else { Self::Unreadable { dir: dir.to_owned(), source: Box::new(self) } }
    }
}

/// Why a block is not the next block of this chain.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The header breaks a consensus rule.
    #[error("rule `{}` broken: {violation}", violation.rule())]
    Rule {
        /// What is wrong with the header.
        #[from]
        violation: RuleViolation,
    },
    /// A transaction cannot be executed.
    #[error("rule `transactions` broken: {0}")]
    Exec(#[from] ExecError),
    /// A value in the header is not what execution gives.
    #[error("rule `{field}` broken: the header says {header}, execution gives {computed}")]
    Mismatch {
        /// Which header field.
        field: &'static str,
        /// The header's value.
        header: String,
        /// The value computed here.
        computed: String,
    },
    /// The header's bloom is not that of the logs.
    #[error("rule `logs-bloom` broken: the header's bloom is not that of the logs")]
    Bloom,
    /// The extraData does not decode.
    #[error("rule `extra-data` broken: {0}")]
    ExtraData(#[from] ExtraDataError),
    /// The store failed.
    #[error("cannot store the block")]
    Store(#[from] StoreError),
    /// The state failed.
    #[error("cannot read the state")]
    State(#[from] StateError),
}

/// Why a raw transaction was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SubmitError {
    /// The bytes are not a transaction.
    #[error("the bytes are not an RLP-encoded transaction")]
    Undecodable,
    /// Nobody can have signed it.
    #[error("the signature is not valid")]
    InvalidSignature,
    /// The pool refused it.
    #[error(transparent)]
    Pool(#[from] PoolError),
    /// The sender's account could not be read.
    #[error("cannot read the state")]
    State(#[from] StateError),
}
