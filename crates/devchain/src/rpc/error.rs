//! The errors that a caller can see, and the one place where they become Besu's codes and messages.

use std::borrow::Cow;

use alloy_primitives::Bytes;

use crate::{exec::Interruption, produce::ControlError, workers};

/// Which parameter was not understood. Besu names each of them in its message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Param {
    /// The parameters as a whole: no array, or not readable.
    Any,
    /// Too few or too many.
    Count,
    /// An account's address.
    Address,
    /// A block number or tag.
    BlockNumber,
    /// A block number or tag of `ibft_*`, for which Besu's message is about RLP.
    IbftBlock,
    /// A 32-byte block hash.
    BlockHash,
    /// How many blocks.
    BlockCount,
    /// Reward percentiles of a fee history.
    Percentiles,
    /// A transaction's hash.
    TransactionHash,
    /// Position in a block.
    Index,
    /// The flag that asks for whole transactions.
    FullTransactions,
    /// A signed transaction.
    RawTransaction,
    /// A transaction type that the fork does not have.
    TransactionType,
    /// The call object.
    Call,
    /// State or block overrides.
    Overrides,
    /// A storage slot.
    Position,
    /// Storage keys of a proof.
    StorageKeys,
    /// A log filter.
    Filter,
    /// A filter's id.
    FilterId,
    /// What to subscribe to.
    Subscription,
    /// A subscription's id.
    SubscriptionId,
    /// Hex data.
    Data,
    /// How to trace.
    Trace,
    /// Add or drop.
    Vote,
    /// Seconds or a point in time.
    Timestamp,
    /// A snapshot's id.
    Snapshot,
    /// A validator's name or address.
    Validator,
}

impl Param {
    fn message(self) -> &'static str {
        match self {
            Param::Any => "Invalid params",
            Param::Count => "Invalid number of params",
            Param::Address => "Invalid address params",
            Param::BlockNumber => "Invalid block number params",
            // Besu's wording, odd as it is for a block tag.
            Param::IbftBlock | Param::RawTransaction => "Invalid block, unable to parse RLP",
            Param::BlockHash => "Invalid block hash params",
            Param::BlockCount => "Invalid block count params",
            Param::Percentiles => "Invalid reward percentiles params",
            Param::TransactionHash => "Invalid transaction hash params",
            Param::Index => "Invalid transaction index params",
            Param::FullTransactions => "Invalid return complete transaction params",
            Param::TransactionType => "Invalid transaction type",
            Param::Call => "Invalid call params",
            Param::Overrides => "Invalid account override params",
            Param::Position => "Invalid position params",
            Param::StorageKeys => "Invalid storage keys params",
            Param::Filter => "Invalid filter params",
            Param::FilterId => "Invalid filter ID params",
            Param::Subscription => "Invalid subscription params",
            Param::SubscriptionId => "Invalid subscription ID params",
            Param::Data => "Invalid data params",
            Param::Trace => "Invalid trace params",
            Param::Vote => "Invalid vote type params",
            Param::Timestamp => "Invalid timestamp params",
            Param::Snapshot => "Invalid snapshot params",
            Param::Validator => "Invalid validator params",
        }
    }
}

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RpcError {
    /// Not JSON.
    #[error("the request is not JSON")]
    Parse,
    /// JSON, but no request.
    #[error("the request has no usable method, id or params")]
    InvalidRequest,
    /// A method that nobody knows.
    #[error("unknown method")]
    MethodNotFound,
    /// A known method whose group is off, or that needs a WebSocket.
    #[error("method not enabled here")]
    MethodNotEnabled,
    /// `eth_sendTransaction`: the node keeps no keys.
    #[error("the node signs nothing")]
    NoAccounts,
    /// A parameter is missing or wrong.
    #[error("invalid parameter {0:?}")]
    InvalidParams(Param),
    /// Too many requests in one batch.
    #[error("batch too large")]
    BatchTooLarge,
    /// The answers to a batch are too long together.
    #[error("batch answers too large")]
    BatchAnswerTooLarge,
    /// The log query spans too many blocks.
    #[error("block range too large")]
    RangeTooLarge,
    /// The log query finds too much.
    #[error("more than {0} logs")]
    TooManyLogs(usize),
    /// Too many filters or subscriptions.
    #[error("limit reached")]
    LimitReached,
    /// The same transaction is in the pool already.
    #[error("known transaction")]
    KnownTransaction,
    /// A transaction of the same sender and nonce pays as much or more.
    #[error("replacement underpriced")]
    ReplacementUnderpriced,
    /// Signed for another chain.
    #[error("wrong chain id")]
    WrongChainId,
    /// Signed for no chain in particular.
    #[error("chain id required")]
    ChainIdRequired,
    /// A price that can only be a slip.
    #[error("gas price above the cap")]
    FeeCapExceeded,
    /// Tip above the fee cap.
    #[error("tip above fee cap")]
    TipAboveFeeCap,
    /// Nonce beyond what the pool keeps.
    #[error("nonce too distant")]
    NonceTooDistant,
    /// The gas limit is above what the node takes of one transaction.
    #[error("gas limit above the cap of a transaction")]
    GasAboveCap {
        /// Highest taken.
        cap: u64,
    },
    /// A transaction of the sender took too long to execute.
    #[error("sender suspended")]
    SenderSuspended {
        /// First block that its transactions are taken for again.
        until: u64,
    },
    /// The offered price is below what the node takes.
    #[error("gas price below the minimum")]
    BelowMinimumPrice,
    /// The pool has no room.
    #[error("transaction pool full")]
    PoolFull,
    /// Nonce already used.
    #[error("nonce too low")]
    NonceTooLow,
    /// Nonce ahead of the account, in a simulation.
    #[error("nonce too high")]
    NonceTooHigh,
    /// The signature yields no sender.
    #[error("invalid signature")]
    InvalidSignature,
    /// The gas limit does not cover the fixed cost.
    #[error("intrinsic gas above gas limit")]
    IntrinsicGas,
    /// The sender cannot pay.
    #[error("insufficient funds")]
    InsufficientFunds,
    /// The transaction fits no block.
    #[error("gas limit above block gas limit")]
    GasLimitAboveBlock,
    /// The sender is a contract.
    #[error("sender not authorized")]
    SenderNotAuthorized,
    /// The offered price is below the base fee.
    #[error("gas price below base fee")]
    BelowBaseFee,
    /// The call reverted.
    #[error("execution reverted")]
    Reverted {
        /// Decoded `Error(string)` or `Panic(uint256)`.
        reason: Option<String>,
        /// The revert's bytes.
        output: Bytes,
    },
    /// The call stopped otherwise: out of gas, invalid opcode.
    #[error("execution halted")]
    Halted,
    /// The named block is not known.
    #[error("block not found")]
    BlockNotFound,
    /// A hash of EIP-1898 is not on the chain.
    #[error("unknown block")]
    UnknownBlock,
    /// The transaction is not known.
    #[error("transaction not found")]
    TransactionNotFound,
    /// The filter is not known or has expired.
    #[error("filter not found")]
    FilterNotFound,
    /// The subscription is not known.
    #[error("subscription not found")]
    SubscriptionNotFound,
    /// `eth_getWork`: nobody mines by work here.
    #[error("no mining work")]
    NoWork,
    /// There is no peer-to-peer network.
    #[error("no peer-to-peer network")]
    NoPeers,
    /// The trace would take too much memory.
    #[error("trace too large")]
    TraceTooLarge,
    /// A web page asked for something that changes the node.
    #[error("not for web pages")]
    NotForPages,
    /// It took too long, or nobody waits any longer.
    #[error(transparent)]
    Interrupted(#[from] Interruption),
    /// Too many calls wait already.
    #[error("too many calls are waiting")]
    Busy,
    /// Block production refused a development or control command.
    #[error(transparent)]
    Refused(#[from] ControlError),
    /// Our fault; the cause is in the log.
    #[error("internal error")]
    Internal,
}

impl RpcError {
    /// Logs a failure of ours and hides it from the caller.
    pub fn internal(cause: &dyn std::error::Error) -> Self {
        let mut text = cause.to_string();
        let mut source = cause.source();
        while let Some(inner) = source {
            text.push_str(": ");
            text.push_str(&inner.to_string());
            source = inner.source();
        }
        tracing::error!(cause = text, "a request failed inside the node");
        Self::Internal
    }

    /// JSON-RPC code and message as Besu gives them.
    pub fn code_and_message(&self) -> (i32, Cow<'static, str>) {
        let (code, message) = match self {
            RpcError::Parse => (-32700, "Parse error"),
            RpcError::InvalidRequest => (-32600, "Invalid Request"),
            RpcError::MethodNotFound => (-32601, "Method not found"),
            RpcError::MethodNotEnabled => (-32604, "Method not enabled"),
            RpcError::NoAccounts => (
                -32604,
                "The method eth_sendTransaction is not supported. \
                 Use eth_sendRawTransaction to send a signed transaction to Besu.",
            ),
            RpcError::InvalidParams(param) => (-32602, param.message()),
            RpcError::BatchTooLarge => (-32005, "Number of requests exceeds max batch size"),
            RpcError::BatchAnswerTooLarge => (-32005, "Answers to the batch exceed max batch answer size"),
            RpcError::RangeTooLarge => (-32005, "Requested range exceeds maximum RPC range limit"),
            RpcError::TooManyLogs(most) => {
                return (-32005, format!("Query returned more than {most} results").into());
            }
            RpcError::LimitReached => (-32005, "Limit of filters or subscriptions reached"),
            RpcError::KnownTransaction => (-32000, "Known transaction"),
            RpcError::ReplacementUnderpriced => (-32000, "Replacement transaction underpriced"),
            RpcError::WrongChainId => (-32000, "Wrong chainId"),
            RpcError::ChainIdRequired => (-32000, "ChainId is required"),
            RpcError::FeeCapExceeded => (-32000, "Transaction fee cap exceeded"),
            RpcError::TipAboveFeeCap => (-32000, "Max priority fee per gas exceeds max fee per gas"),
            RpcError::NonceTooDistant => {
                (-32000, "Transaction nonce is too distant from current sender nonce")
            }
            RpcError::GasAboveCap { cap } => {
                return (
                    -32000,
                    format!("Transaction gas limit exceeds transaction gas cap of {cap}").into(),
                );
            }
            RpcError::SenderSuspended { until } => {
                let why = "a transaction of it took too long to execute";
                return (-32000, format!("Sender is suspended until block {until}: {why}").into());
            }
            RpcError::BelowMinimumPrice => (-32009, "Gas price below configured minimum gas price"),
            RpcError::PoolFull => (-32000, "Transaction pool is full"),
            RpcError::NonceTooLow => (-32001, "Nonce too low"),
            RpcError::NonceTooHigh => (-32006, "Nonce too high"),
            RpcError::InvalidSignature => (-32002, "Invalid signature"),
            RpcError::IntrinsicGas => (-32003, "Intrinsic gas exceeds gas limit"),
            RpcError::InsufficientFunds => (-32004, "Upfront cost exceeds account balance"),
            RpcError::GasLimitAboveBlock => (-32005, "Transaction gas limit exceeds block gas limit"),
            RpcError::SenderNotAuthorized => (-32007, "Sender account not authorized to send transactions"),
            RpcError::BelowBaseFee => (-32009, "Gas price below current base fee"),
            RpcError::Reverted { reason: Some(reason), .. } => {
                return (-32000, format!("Execution reverted: {reason}").into());
            }
            RpcError::Reverted { reason: None, .. } => (-32000, "Execution reverted"),
            RpcError::BlockNotFound => (-32000, "Block not found"),
            RpcError::UnknownBlock => (-39001, "Unknown block"),
            RpcError::TransactionNotFound => (-32000, "Transaction not found"),
            RpcError::FilterNotFound => (-32000, "Filter not found"),
            RpcError::SubscriptionNotFound => (-32000, "Subscription not found"),
            RpcError::NoWork => (-32000, "No mining work available yet"),
            RpcError::NoPeers => (-32000, "P2P has been disabled. This functionality is not available"),
            RpcError::TraceTooLarge => (-32000, "Trace is too large, trace less or without memory and stack"),
            RpcError::NotForPages => (-32604, "Method not available to web pages"),
            RpcError::Interrupted(_) => {
                let limit = workers::TIME_LIMIT.as_secs();
                return (-32000, format!("Execution aborted (timeout = {limit}s)").into());
            }
            RpcError::Busy => (-32005, "Too many calls are waiting, try again later"),
            RpcError::Refused(reason) => return (-32000, reason.to_string().into()),
            RpcError::Halted | RpcError::Internal => (-32603, "Internal error"),
        };
        (code, Cow::Borrowed(message))
    }

    /// What goes along in the error's `data`.
    pub fn data(&self) -> Option<&Bytes> {
        match self {
            RpcError::Reverted { output, .. } => Some(output),
            _ => None,
        }
    }
}
