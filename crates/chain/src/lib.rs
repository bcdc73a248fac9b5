//! The chain as the product sees it: blocks, accounts and calls, wherever they come from.
//!
//! [`ChainClient`] is the port. The embedded chain implements it inside the process, the remote client over HTTP and
//! WebSocket for one or many nodes; everything that reads the chain takes an `Arc<dyn ChainClient>` and cannot tell which
//! it has. This crate does not interpret what it reads beyond the consensus format: contracts' meaning, SQL and HTTP
//! answers are for the floors above.

pub mod agreement;
pub mod block;
mod cached;
mod client;
pub mod contract;
mod error;
mod fees;
mod nonce;
mod pending;
pub mod raw;
pub mod remote;
mod send;
mod voter;
mod witness;

pub use agreement::Agreement;
pub use block::{Block, Receipt, Transaction};
pub use cached::{CacheLimits, Cached};
pub use client::{Account, At, ChainClient, FoundTransaction, Head};
pub use error::ChainError;
pub use fees::Fees;
pub use jsonrpc::Answer as RawAnswer;
pub use nonce::{NonceProgress, NonceState};
pub use pending::PendingHashes;
pub use raw::{Lane, NodeState, RawCall, RawError, RawUpstream};
pub use send::{Rejection, SendError, Sent};
pub use voter::{Ballot, VoteRequest, Voter, VoterError};
pub use witness::Witness;
