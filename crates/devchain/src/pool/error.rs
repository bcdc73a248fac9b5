//! Why the pool does not take a transaction.

use crate::exec::RejectReason;

/// Why a transaction was not added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// The transaction could never be executed as things stand.
    #[error(transparent)]
    Invalid(#[from] RejectReason),
    /// The same transaction is already here.
    #[error("known transaction")]
    AlreadyKnown,
    /// Another transaction with this nonce is here and pays no less.
    #[error("replacement transaction underpriced")]
    ReplacementUnderpriced,
    /// The nonce is too far ahead to wait for those between.
    #[error("nonce {tx} is too distant from the next nonce {next}")]
    NonceTooDistant {
        /// Nonce of the transaction.
        tx: u64,
        /// Nonce after the sender's executable transactions.
        next: u64,
    },
    /// The price per gas exceeds what the node takes.
    #[error("transaction fee cap {limit} exceeded")]
    FeeCapExceeded {
        /// Highest price taken.
        limit: u128,
    },
    /// The sender has its share of the pool.
    #[error("the sender already has {limit} transactions in the pool")]
    SenderLimit {
        /// Transactions that a sender may have.
        limit: usize,
    },
    /// The gas limit exceeds what the node takes of one transaction.
    #[error("the gas limit {gas_limit} exceeds the cap {cap} of one transaction")]
    GasAboveCap {
        /// Gas limit of the transaction.
        gas_limit: u64,
        /// Highest taken.
        cap: u64,
    },
    /// The price per gas is below what the node takes.
    #[error("the gas price is below the minimum {minimum}")]
    PriceBelowMinimum {
        /// Lowest price taken, in wei.
        minimum: u128,
    },
    /// A transaction of the sender took too long to execute.
    #[error("the sender is suspended until block {until}")]
    SenderSuspended {
        /// First block that its transactions are taken for again.
        until: u64,
    },
    /// The pool is full of transactions that matter no less.
    #[error("the transaction pool is full")]
    Full,
}
