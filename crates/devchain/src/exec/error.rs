//! Why execution refuses or fails, precise enough for the RPC to choose Besu's code and words.

use alloy_primitives::{Address, B256, Bytes, U256};
use revm::context::result::{EVMError, HaltReason, InvalidTransaction};

use super::{Interruption, halt_words};
use crate::state::StateError;

/// Why a transaction cannot be executed at all (as opposed to executed and reverted).
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RejectReason {
    /// The sender has already used this nonce.
    #[error("nonce {tx} is below the sender's nonce {state}")]
    NonceTooLow {
        /// Nonce of the transaction.
        tx: u64,
        /// Nonce of the account.
        state: u64,
    },
    /// A transaction with a lower nonce must come first.
    #[error("nonce {tx} is above the sender's nonce {state}")]
    NonceTooHigh {
        /// Nonce of the transaction.
        tx: u64,
        /// Nonce of the account.
        state: u64,
    },
    /// The nonce cannot be increased any more.
    #[error("nonce overflow")]
    NonceOverflow,
    /// Value and highest possible fee exceed the balance.
    #[error("upfront cost {cost} exceeds the balance {balance}")]
    InsufficientFunds {
        /// Value plus gas limit times highest price.
        cost: U256,
        /// Balance of the sender.
        balance: U256,
    },
    /// Gas limit times price does not fit 256 bits.
    #[error("upfront cost overflow")]
    CostOverflow,
    /// The gas limit exceeds what is left in the block.
    #[error("gas limit {gas_limit} exceeds the {available} available in the block")]
    GasLimitExceedsBlock {
        /// Gas limit of the transaction.
        gas_limit: u64,
        /// Gas not yet used by earlier transactions.
        available: u64,
    },
    /// The gas limit does not even cover what is charged before execution.
    #[error("intrinsic gas {required} exceeds the gas limit {gas_limit}")]
    IntrinsicGas {
        /// Gas charged before execution.
        required: u64,
        /// Gas limit of the transaction.
        gas_limit: u64,
    },
    /// The highest price offered is below the base fee.
    #[error("gas price is below the base fee {base_fee}")]
    FeeBelowBaseFee {
        /// Base fee of the block.
        base_fee: u64,
    },
    /// The priority fee exceeds the fee cap.
    #[error("max priority fee per gas exceeds max fee per gas")]
    PriorityAboveMaxFee,
    /// EIP-3607: contracts do not send transactions.
    #[error("the sender has code")]
    SenderHasCode,
    /// EIP-3860, from Shanghai on.
    #[error("init code is larger than the limit")]
    InitCodeTooLarge,
    /// Signed for another chain.
    #[error("wrong chain id")]
    WrongChainId,
    /// A typed transaction without a chain id.
    #[error("chain id is required")]
    MissingChainId,
    /// The transaction's type or a field of it is not part of the fork in force.
    #[error("transaction type is not supported by the current fork")]
    UnsupportedType,
}

impl RejectReason {
    /// Translates the interpreter's refusal; `gas_limit` is the transaction's, the rest is the block's.
    pub(super) fn new(refusal: InvalidTransaction, gas_limit: u64, available: u64, base_fee: u64) -> Self {
        use InvalidTransaction as I;
        match refusal {
            I::NonceTooLow { tx, state } => Self::NonceTooLow { tx, state },
            I::NonceTooHigh { tx, state } => Self::NonceTooHigh { tx, state },
            I::NonceOverflowInTransaction => Self::NonceOverflow,
            I::LackOfFundForMaxFee { fee, balance } => {
                Self::InsufficientFunds { cost: *fee, balance: *balance }
            }
            I::OverflowPaymentInTransaction => Self::CostOverflow,
            I::CallerGasLimitMoreThanBlock => Self::GasLimitExceedsBlock { gas_limit, available },
            I::TxGasLimitGreaterThanCap { gas_limit, cap } => {
                Self::GasLimitExceedsBlock { gas_limit, available: cap }
            }
            I::CallGasCostMoreThanGasLimit { initial_gas, gas_limit } => {
                Self::IntrinsicGas { required: initial_gas, gas_limit }
            }
            I::GasFloorMoreThanGasLimit { gas_floor, gas_limit } => {
                Self::IntrinsicGas { required: gas_floor, gas_limit }
            }
            I::GasPriceLessThanBasefee => Self::FeeBelowBaseFee { base_fee },
            I::PriorityFeeGreaterThanMaxFee => Self::PriorityAboveMaxFee,
            I::RejectCallerWithCode => Self::SenderHasCode,
            I::CreateInitCodeSizeLimit => Self::InitCodeTooLarge,
            I::InvalidChainId => Self::WrongChainId,
            I::MissingChainId => Self::MissingChainId,
            I::AccessListNotSupported
            | I::MaxFeePerBlobGasNotSupported
            | I::BlobVersionedHashesNotSupported
            | I::BlobGasPriceGreaterThanMax { .. }
            | I::EmptyBlobs
            | I::BlobCreateTransaction
            | I::TooManyBlobs { .. }
            | I::BlobVersionNotSupported
            | I::AuthorizationListNotSupported
            | I::AuthorizationListInvalidFields
            | I::EmptyAuthorizationList
            | I::Eip2930NotSupported
            | I::Eip1559NotSupported
            | I::Eip4844NotSupported
            | I::Eip7702NotSupported
            | I::Eip7873NotSupported
            | I::Eip7873MissingTarget
            | I::Str(_) => Self::UnsupportedType,
        }
    }
}

/// Why a block or a simulation could not be executed.
#[derive(Debug, thiserror::Error)]
pub enum ExecError {
    /// The state could not be read.
    #[error("the state could not be read")]
    State(#[from] StateError),
    /// A block contains a transaction that cannot be executed.
    #[error("transaction {index} ({hash}) is invalid")]
    InvalidTransaction {
        /// Position in the block.
        index: usize,
        /// Hash of the transaction.
        hash: B256,
        /// What is wrong with it.
        #[source]
        reason: RejectReason,
    },
    /// The simulated transaction cannot be executed.
    #[error("the call cannot be executed")]
    Rejected(#[from] RejectReason),
    /// A request names both a legacy price and EIP-1559 fees.
    #[error("both gasPrice and maxFeePerGas or maxPriorityFeePerGas are given")]
    ConflictingFees,
    /// An override names both a whole storage and single slots.
    #[error("both state and stateDiff are given for {0}")]
    ConflictingOverride(Address),
    /// Overrides that move precompiles are not offered.
    #[error("moving the precompile {0} is not supported")]
    PrecompileMove(Address),
    /// It was ended before it was done.
    #[error(transparent)]
    Interrupted(#[from] Interruption),
    /// The interpreter met a condition that no transaction can cause.
    #[error("the interpreter failed: {0}")]
    Interpreter(String),
}

/// What a failed run of the interpreter means for its caller.
pub(super) enum RunError {
    /// The transaction is at fault.
    Refused(InvalidTransaction),
    /// Execution cannot go on.
    Fatal(ExecError),
}

impl From<EVMError<StateError>> for RunError {
    fn from(error: EVMError<StateError>) -> Self {
        match error {
            EVMError::Transaction(refusal) => Self::Refused(refusal),
            EVMError::Database(error) => Self::Fatal(ExecError::State(error)),
            EVMError::Header(error) => Self::Fatal(ExecError::Interpreter(error.to_string())),
            EVMError::Custom(error) => Self::Fatal(ExecError::Interpreter(error)),
            EVMError::CustomAny(error) => Self::Fatal(ExecError::Interpreter(error.to_string())),
        }
    }
}

/// Why no gas limit could be found for a call.
#[derive(Debug, thiserror::Error)]
pub enum EstimateError {
    /// The call could not be tried.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// The call reverts however much gas it gets.
    #[error("execution reverted")]
    Revert {
        /// What the contract returned.
        output: Bytes,
    },
    /// The call runs out of gas even at the highest limit allowed.
    #[error("gas required exceeds the allowance of {allowance}")]
    OutOfGas {
        /// Highest limit tried.
        allowance: u64,
    },
    /// The call fails for another reason than gas.
    #[error("execution halted: {}", halt_words(reason))]
    Halt {
        /// Why the interpreter stopped.
        reason: HaltReason,
    },
}

/// Why a trace could not be made.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The transactions could not be executed.
    #[error(transparent)]
    Exec(#[from] ExecError),
    /// The block has fewer transactions.
    #[error("the block has no transaction at index {0}")]
    NoSuchTransaction(usize),
    /// The tracer is unknown or its configuration does not decode.
    #[error("the tracer is not supported or its configuration is invalid")]
    UnsupportedTracer,
    /// The trace would take too much memory.
    #[error("the trace would take more than {} MiB; callTracer records less", bytes >> 20)]
    TooLarge {
        /// What a trace may hold.
        bytes: usize,
    },
}
