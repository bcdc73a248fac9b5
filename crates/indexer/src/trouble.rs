//! What can come between the chain and the index.

use chain::ChainError;
use store::{
    StoreError,
    index::{ChainIdentity, WriterError},
};

use crate::HaltReason;

/// Why work on the index was broken off.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Trouble {
    /// The chain did not answer.
    #[error("the chain cannot be read")]
    Chain(#[from] ChainError),
    /// The chain has a head but not a block below it, or not its receipts.
    #[error("block {0} is not to be had")]
    Missing(u64),
    /// A block with more or fewer receipts than transactions.
    #[error("block {number} has {transactions} transactions but {receipts} receipts")]
    Receipts { number: u64, transactions: usize, receipts: usize },
    /// The database failed.
    #[error("the index cannot be written")]
    Store(#[from] StoreError),
    /// A task ended without its result, because the process is going down.
    #[error("a task was broken off")]
    Task(#[from] tokio::task::JoinError),
    /// The index must not be written to.
    #[error("the index is halted")]
    Halt(#[source] HaltReason),
}

impl Trouble {
    /// Why trying again cannot help; none if it can. A block is never given up: whatever the chain answers is asked for again.
    pub(crate) fn halts(&self) -> Option<HaltReason> {
        match self {
            Self::Halt(reason) => Some(reason.clone()),
            Self::Store(error) if !error.is_temporary() => {
                Some(HaltReason::Database { problem: error.to_string() })
            }
            Self::Chain(_) | Self::Missing(_) | Self::Receipts { .. } | Self::Store(_) | Self::Task(_) => {
                None
            }
        }
    }
}

impl From<WriterError> for Trouble {
    fn from(error: WriterError) -> Self {
        match error {
            WriterError::OtherChain { found, expected } => Self::other_chain(found, expected),
            WriterError::Store(error) => Self::Store(error),
        }
    }
}

impl Trouble {
    fn other_chain(index: ChainIdentity, node: ChainIdentity) -> Self {
        Self::Halt(HaltReason::OtherChain { index, node })
    }
}
