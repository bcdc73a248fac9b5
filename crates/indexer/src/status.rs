//! What an indexer says of itself.

use alloy_primitives::B256;
use store::index::ChainIdentity;

/// What an indexer is doing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IndexStatus {
    /// The chain or the database has not answered yet.
    Starting,
    /// Catching up with a chain that is ahead.
    Backfilling {
        /// The last block of the index; none in an empty one.
        at: Option<u64>,
        /// The block it is heading for.
        target: u64,
    },
    /// At the head, appending each block as it comes.
    Following {
        /// The last block of the index.
        at: u64,
    },
    /// Another process writes the index; this one takes over if that one stops.
    Standby {
        /// The last block of the index.
        at: Option<u64>,
    },
    /// Stopped until somebody has looked: going on would make the index wrong.
    Halted {
        /// The last block of the index.
        at: Option<u64>,
        /// Why.
        reason: HaltReason,
    },
}

/// Why an indexer has halted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HaltReason {
    /// A block does not follow the index's last one. Blocks of IBFT 2.0 are final, so either the node or the index
    /// is of another chain.
    #[error("block {number} of the chain names {found} as its parent, the index has {expected} there")]
    Mismatch {
        /// The block that does not fit.
        number: u64,
        /// The hash the index has of the block before.
        expected: B256,
        /// The hash the chain says the block before has.
        found: B256,
    },
    /// The chain's head is at or below the index's last block, and is another block.
    #[error("the chain's head is block {number} with hash {found}, the index ends with {expected}")]
    Rewritten {
        /// The head's number.
        number: u64,
        /// The hash of the index's last block.
        expected: B256,
        /// The hash of the chain's head.
        found: B256,
    },
    /// The index was built from another chain.
    #[error(
        "the index is of chain {} with genesis {}, the node is of chain {} with genesis {}",
        .index.chain_id, .index.genesis_hash, .node.chain_id, .node.genesis_hash
    )]
    OtherChain {
        /// The chain of the index.
        index: ChainIdentity,
        /// The chain of the node.
        node: ChainIdentity,
    },
    /// The database holds something that cannot be, or refused a statement. The log has the cause.
    #[error("the database cannot be written to: {problem}")]
    Database {
        /// What the store says.
        problem: String,
    },
}
