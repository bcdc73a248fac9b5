//! Failures of execution in the caller's words.

use alloy_primitives::Bytes;
use alloy_sol_types::{Panic, Revert, SolError};

use super::error::{Param, RpcError};
use crate::{
    chain::SubmitError,
    exec::{EstimateError, ExecError, RejectReason, TraceError},
    pool::PoolError,
    state::StateError,
    store::StoreError,
    workers::WorkError,
};

/// The error for a reverted call, with `Error(string)` and `Panic(uint256)` spelt out.
pub(crate) fn reverted(output: Bytes) -> RpcError {
    let reason = match (Revert::abi_decode(&output), Panic::abi_decode(&output)) {
        (Ok(revert), _) => Some(revert.reason),
        (_, Ok(panic)) => Some(match panic.kind() {
            Some(kind) => format!("panic 0x{:02x}: {}", panic.code, kind.as_str()),
            None => format!("panic 0x{:02x}", panic.code),
        }),
        (Err(_), Err(_)) => None,
    };
    RpcError::Reverted { reason, output }
}

impl From<StateError> for RpcError {
    fn from(error: StateError) -> Self {
        RpcError::internal(&error)
    }
}

impl From<StoreError> for RpcError {
    fn from(error: StoreError) -> Self {
        RpcError::internal(&error)
    }
}

impl From<RejectReason> for RpcError {
    fn from(reason: RejectReason) -> Self {
        match reason {
            RejectReason::NonceTooLow { .. } => RpcError::NonceTooLow,
            RejectReason::NonceTooHigh { .. } => RpcError::NonceTooHigh,
            RejectReason::InsufficientFunds { .. } => RpcError::InsufficientFunds,
            RejectReason::GasLimitExceedsBlock { .. } => RpcError::GasLimitAboveBlock,
            RejectReason::IntrinsicGas { .. } => RpcError::IntrinsicGas,
            RejectReason::FeeBelowBaseFee { .. } => RpcError::BelowBaseFee,
            RejectReason::PriorityAboveMaxFee => RpcError::TipAboveFeeCap,
            RejectReason::SenderHasCode => RpcError::SenderNotAuthorized,
            RejectReason::WrongChainId => RpcError::WrongChainId,
            RejectReason::MissingChainId => RpcError::ChainIdRequired,
            RejectReason::UnsupportedType => RpcError::InvalidParams(Param::TransactionType),
            // Besu has no code of their own for these three.
            RejectReason::NonceOverflow | RejectReason::CostOverflow | RejectReason::InitCodeTooLarge => {
                RpcError::Internal
            }
        }
    }
}

impl From<ExecError> for RpcError {
    fn from(error: ExecError) -> Self {
        match error {
            ExecError::Rejected(reason) => reason.into(),
            ExecError::ConflictingFees => RpcError::InvalidParams(Param::Call),
            ExecError::ConflictingOverride(_) | ExecError::PrecompileMove(_) => {
                RpcError::InvalidParams(Param::Overrides)
            }
            ExecError::Interrupted(interruption) => interruption.into(),
            ExecError::State(_) | ExecError::InvalidTransaction { .. } | ExecError::Interpreter(_) => {
                RpcError::internal(&error)
            }
        }
    }
}

impl From<WorkError> for RpcError {
    fn from(error: WorkError) -> Self {
        match error {
            WorkError::Busy => RpcError::Busy,
            WorkError::Interrupted(interruption) => interruption.into(),
            WorkError::Thread(_) | WorkError::Panicked => RpcError::internal(&error),
        }
    }
}

impl From<EstimateError> for RpcError {
    fn from(error: EstimateError) -> Self {
        match error {
            EstimateError::Exec(error) => error.into(),
            EstimateError::Revert { output } => reverted(output),
            EstimateError::OutOfGas { .. } | EstimateError::Halt { .. } => RpcError::Halted,
        }
    }
}

impl From<TraceError> for RpcError {
    fn from(error: TraceError) -> Self {
        match error {
            TraceError::Exec(error) => error.into(),
            TraceError::NoSuchTransaction(_) => RpcError::TransactionNotFound,
            TraceError::UnsupportedTracer => RpcError::InvalidParams(Param::Trace),
            TraceError::TooLarge { .. } => RpcError::TraceTooLarge,
        }
    }
}

impl From<SubmitError> for RpcError {
    fn from(error: SubmitError) -> Self {
        match error {
            SubmitError::Undecodable => RpcError::InvalidParams(Param::RawTransaction),
            SubmitError::InvalidSignature => RpcError::InvalidSignature,
            SubmitError::Pool(error) => error.into(),
            SubmitError::State(error) => error.into(),
        }
    }
}

impl From<PoolError> for RpcError {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Invalid(reason) => reason.into(),
            PoolError::AlreadyKnown => RpcError::KnownTransaction,
            PoolError::ReplacementUnderpriced => RpcError::ReplacementUnderpriced,
            PoolError::NonceTooDistant { .. } => RpcError::NonceTooDistant,
            PoolError::FeeCapExceeded { .. } => RpcError::FeeCapExceeded,
            PoolError::GasAboveCap { cap, .. } => RpcError::GasAboveCap { cap },
            PoolError::PriceBelowMinimum { .. } => RpcError::BelowMinimumPrice,
            PoolError::SenderSuspended { until } => RpcError::SenderSuspended { until },
            PoolError::SenderLimit { .. } | PoolError::Full => RpcError::PoolFull,
        }
    }
}
