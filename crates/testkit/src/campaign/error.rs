//! What a campaign can find.

use std::io;

use alloy_primitives::{Address, B256, U256};

use crate::{CallError, StartError};

/// Something that must never be true after a restart.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Breach {
    /// The chain became shorter than a client had seen it.
    #[error("a client saw block {seen}, but after the restart the head is {head}")]
    HeadFell {
        /// Highest block that a client saw.
        seen: u64,
        /// The head after the restart.
        head: u64,
    },
    /// Another block stands where a client saw one.
    #[error("block {number} was {seen}, and is {found} after the restart")]
    BlockChanged {
        /// The height.
        number: u64,
        /// Hash before.
        seen: B256,
        /// Hash after.
        found: B256,
    },
    /// A block does not follow the one below it.
    #[error("block {number} does not follow block {}", number - 1)]
    BrokenLink {
        /// The height.
        number: u64,
    },
    /// A transaction that was mined is not any more.
    #[error("transaction {hash} was mined in block {block}, and is not there after the restart")]
    TransactionLost {
        /// The transaction.
        hash: B256,
        /// Where a client saw it.
        block: u64,
    },
    /// The state is not what the blocks make of the genesis.
    #[error("{account} should have {expected} wei, and has {found}")]
    Balance {
        /// The account.
        account: Address,
        /// What the transfers in the blocks add up to.
        expected: U256,
        /// What the node says.
        found: U256,
    },
    /// A nonce was used twice or left out, or the state does not know it.
    #[error("{account} should be at nonce {expected}, and is at {found}")]
    Nonce {
        /// The account.
        account: Address,
        /// The transactions it has in the blocks.
        expected: u64,
        /// What a block or the node says.
        found: u64,
    },
    /// The chain does not go on.
    #[error("no block came after {head}")]
    Stuck {
        /// The head after the restart.
        head: u64,
    },
    /// The node panicked.
    #[error("the node panicked:\n{output}")]
    Panicked {
        /// Its last words.
        output: String,
    },
    /// Executing all blocks again elsewhere gives another chain.
    #[error("the exported chain imports to something else: {output}")]
    OtherReplay {
        /// What the import said.
        output: String,
    },
}

/// Why a campaign ended early.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    /// The node does not start.
    #[error("after {kills} kills: the node does not start")]
    Start {
        /// Kills so far.
        kills: u32,
        /// Why.
        #[source]
        source: StartError,
    },
    /// The node refused or garbled what it should have answered.
    #[error("the node did not answer as it should")]
    Call(#[from] CallError),
    /// The operating system refused something.
    #[error("cannot handle the node's process or files")]
    Io(#[from] io::Error),
    /// The node broke a promise.
    #[error("after {kills} kills: {breach}")]
    Breach {
        /// Kills so far.
        kills: u32,
        /// The promise.
        breach: Breach,
    },
}

/// Why a check did not pass.
#[derive(Debug, thiserror::Error)]
pub(super) enum CheckError {
    #[error(transparent)]
    Call(#[from] CallError),
    #[error(transparent)]
    Breach(#[from] Breach),
}
