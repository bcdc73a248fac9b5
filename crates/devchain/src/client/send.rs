//! What the pool says to a transaction, in the access layer's words.

use ::chain::{Rejection, SendError, Sent};
use alloy_primitives::B256;

use super::failure::unreadable;
use crate::{chain::SubmitError, exec::RejectReason, pool::PoolError, rpc::RpcError};

/// What became of a submitted transaction.
pub(super) fn judge(submitted: Result<B256, SubmitError>) -> Result<Sent, SendError> {
    let error = match submitted {
        Ok(_) => return Ok(Sent::Accepted),
        Err(SubmitError::Pool(PoolError::AlreadyKnown)) => return Ok(Sent::Known),
        Err(error @ SubmitError::State(_)) => return Err(SendError::Unknown(unreadable(error))),
        Err(error) => error,
    };
    let reason = match &error {
        SubmitError::Pool(error) => pool_rejection(error),
        SubmitError::Undecodable | SubmitError::InvalidSignature | SubmitError::State(_) => Rejection::Other,
    };
    let (_, message) = RpcError::from(error).code_and_message();
    Err(SendError::Rejected { reason, message: message.into_owned() })
}

fn pool_rejection(error: &PoolError) -> Rejection {
    match error {
        PoolError::Invalid(reason) => match reason {
            RejectReason::NonceTooLow { .. } => Rejection::NonceTooLow,
            RejectReason::NonceTooHigh { .. } => Rejection::NotNow,
            RejectReason::InsufficientFunds { .. } => Rejection::InsufficientFunds,
            RejectReason::FeeBelowBaseFee { .. } => Rejection::Underpriced,
            RejectReason::NonceOverflow
            | RejectReason::CostOverflow
            | RejectReason::GasLimitExceedsBlock { .. }
            | RejectReason::IntrinsicGas { .. }
            | RejectReason::PriorityAboveMaxFee
            | RejectReason::SenderHasCode
            | RejectReason::InitCodeTooLarge
            | RejectReason::WrongChainId
            | RejectReason::MissingChainId
            | RejectReason::UnsupportedType => Rejection::Other,
        },
        PoolError::ReplacementUnderpriced => Rejection::NonceOccupied,
        PoolError::NonceTooDistant { .. }
        | PoolError::SenderLimit { .. }
        | PoolError::SenderSuspended { .. }
        | PoolError::Full => Rejection::NotNow,
        PoolError::PriceBelowMinimum { .. } => Rejection::Underpriced,
        PoolError::AlreadyKnown | PoolError::FeeCapExceeded { .. } | PoolError::GasAboveCap { .. } => {
            Rejection::Other
        }
    }
}
