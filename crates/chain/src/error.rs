//! Why the chain did not answer.

use std::{borrow::Cow, error::Error};

use alloy_primitives::Bytes;
use domain::{Failure, FailureKind};

/// Why the chain did not answer.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// No node can be reached, or none that is healthy. Trying again helps.
    #[error("no node answers")]
    Unavailable(#[source] Option<Box<dyn Error + Send + Sync>>),
    /// A node did not answer in time. Trying again may help.
    #[error("the node did not answer in time")]
    TimedOut,
    /// A call of a contract reverted.
    #[error("the call reverted")]
    Reverted {
        /// What the contract returned, such as an encoded custom error.
        output: Bytes,
    },
    /// The node answered with a JSON-RPC error.
    #[error("the node refused with {code}: {message}")]
    Refused {
        /// JSON-RPC error code.
        code: i64,
        /// The node's own words.
        message: String,
    },
    /// The node answered, but not with what was asked for.
    #[error("the node's answer to {method} is not understood")]
    NotUnderstood {
        /// Method that was asked.
        method: &'static str,
        /// What is wrong with the answer.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl ChainError {
    /// Whether the same question may succeed later or elsewhere.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unavailable(_) | Self::TimedOut | Self::NotUnderstood { .. } => true,
            Self::Reverted { .. } | Self::Refused { .. } => false,
        }
    }
}

impl Failure for ChainError {
    fn kind(&self) -> FailureKind {
        match self {
            Self::Unavailable(_) | Self::TimedOut | Self::NotUnderstood { .. } => FailureKind::Unavailable,
            // Only we decide what is asked, so a refusal is our mistake.
            Self::Reverted { .. } | Self::Refused { .. } => FailureKind::Internal,
        }
    }

    fn code(&self) -> &'static str {
        match self {
            Self::Unavailable(_) | Self::TimedOut | Self::NotUnderstood { .. } => "chain_unavailable",
            Self::Reverted { .. } | Self::Refused { .. } => "internal",
        }
    }

    fn detail(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Unavailable(_) | Self::TimedOut | Self::NotUnderstood { .. } => {
                "the chain cannot be read at the moment; try again in a few seconds"
            }
            Self::Reverted { .. } | Self::Refused { .. } => "something went wrong on our side",
        })
    }
}
