//! The chain as bytes: a method of ours and its parameters in, the node's own result or error out.
//!
//! [`RawUpstream`] is the second port of this crate, for whoever passes answers on without reading them. One
//! implementation asks external nodes, the other the chain inside the process. Which methods may be asked is decided
//! above: an upstream takes any name that is compiled in, and none that came from outside.

use std::sync::Arc;

use async_trait::async_trait;
use jsonrpc::Answer;
use tokio::sync::watch;

use crate::{Head, PendingHashes};

/// What a call costs a node, and so which connections it may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane {
    /// Answered in microseconds, in a few bytes: those that are asked for at the same moment share a request.
    Small,
    /// Answered in microseconds.
    Cheap,
    /// May take long: it gets a share of the connections, so that cheap calls always find one.
    Heavy,
    /// A transaction: it always finds a connection, and goes to two nodes.
    Write,
}

/// A call to be passed on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawCall {
    /// The method; a name of ours.
    pub method: &'static str,
    /// The parameters, a JSON list.
    pub params: Arc<str>,
    /// Which connections it may use.
    pub lane: Lane,
    /// The block that the node must have; zero if any node will do.
    pub at: u64,
}

/// Why no node answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RawError {
    /// No node can be asked, or those that were asked broke off.
    #[error("no node answers")]
    Unavailable,
    /// Too many calls wait for a connection already.
    #[error("too many calls are waiting")]
    Busy,
    /// No node answered in time.
    #[error("no node answered in time")]
    TimedOut,
    /// The answer is longer than we read.
    #[error("the answer is too long")]
    TooLong,
}

/// The state of one node, for operators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NodeState {
    /// Where it is, without credentials.
    pub name: String,
    /// Its newest block, as far as it has told.
    pub head: Option<u64>,
    /// Whether it is asked at present.
    pub is_usable: bool,
    /// Calls under way.
    pub in_flight: usize,
}

/// Where calls are passed on to.
#[async_trait]
pub trait RawUpstream: Send + Sync + 'static {
    /// The newest block that may be asked about; its number never falls, unless a development chain is set back.
    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>>;

    /// Transactions that enter a pool from now on. Nodes are asked to tell of them only while somebody listens; this
    /// returns once one of them does, or after a moment if none can.
    async fn pending(&self) -> PendingHashes;

    /// The chain's id, once a node has told it.
    fn chain_id(&self) -> Option<u64>;

    /// Passes a call on.
    async fn call(&self, call: RawCall) -> Result<Answer, RawError>;

    /// The nodes, for operators.
    fn nodes(&self) -> Vec<NodeState>;
}
