//! What becomes of a transaction that is handed to the chain.
//!
//! Whoever sends coin must tell three things apart: a node has the transaction, no node has it, and nobody knows. The
//! last is not a failure to be tried anew with another signature: the transaction may be mined yet.

use crate::ChainError;

/// A node has the transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sent {
    /// It is new to the nodes.
    Accepted,
    /// They had it before.
    Known,
}

/// Why no node is known to have a transaction.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    /// Every node that was asked refused it. If it was never sent before, it is nowhere.
    #[error("the transaction was refused: {message}")]
    Rejected {
        /// What sort of refusal it is.
        reason: Rejection,
        /// The node's own words.
        message: String,
    },
    /// No answer that could be understood: a node may have it or not.
    #[error("it is not known whether a node has the transaction")]
    Unknown(#[source] ChainError),
}

/// Why a node refuses a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejection {
    /// A transaction with this nonce is in a block, this one or another.
    NonceTooLow,
    /// Another transaction with this nonce waits, and this one does not offer enough more to replace it.
    NonceOccupied,
    /// It offers too little for its gas.
    Underpriced,
    /// The sender cannot pay for it.
    InsufficientFunds,
    /// The node cannot take it at the moment: its pool is full, or lower nonces are missing.
    NotNow,
    /// Anything else that is wrong with it.
    Other,
}
