//! Failures of the embedded chain in the access layer's words.

use std::error::Error;

use ::chain::ChainError;

use crate::{exec::ExecError, rpc::RpcError};

/// What the JSON-RPC port would have answered.
pub(super) fn refused(error: &RpcError) -> ChainError {
    let (code, message) = error.code_and_message();
    ChainError::Refused { code: code.into(), message: message.into_owned() }
}

/// The chain is there but cannot be read.
pub(super) fn unreadable(error: impl Error + Send + Sync + 'static) -> ChainError {
    ChainError::Unavailable(Some(Box::new(error)))
}

/// A call that could not even be tried.
pub(super) fn not_executed(error: ExecError) -> ChainError {
    match error {
        ExecError::State(_) | ExecError::Interpreter(_) | ExecError::Interrupted(_) => unreadable(error),
        ExecError::Rejected(_)
        | ExecError::ConflictingFees
        | ExecError::ConflictingOverride(_)
        | ExecError::PrecompileMove(_)
        | ExecError::InvalidTransaction { .. } => refused(&error.into()),
    }
}
