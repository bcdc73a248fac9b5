//! What is known of each new block before anybody asks: the block, its receipts and its logs, fetched once per head.
//!
//! `load` asks the nodes and reads what they say, `keep` puts it where reads find it, `window` remembers the newest blocks,
//! `follow` does so for every head, in order and without a gap. A head is served when its block is warm, or a moment later if
//! the nodes are slow.

mod follow;
mod load;
mod window;

use alloy_primitives::{Address, B256};
use bytes::Bytes;

pub(crate) use follow::Follower;
pub(crate) use window::Window;

/// A block of which everything is known.
#[derive(Debug)]
pub(crate) struct WarmBlock {
    pub(crate) number: u64,
    pub(crate) hash: B256,
    /// The block with its transactions, as `eth_getBlockByHash` answers it.
    pub(crate) json: Bytes,
    /// Hashes of its transactions, as JSON strings, in order.
    pub(crate) transactions: Vec<Bytes>,
    /// Its logs, in order.
    pub(crate) logs: Vec<WarmLog>,
    /// Bytes of memory, roughly.
    pub(crate) weight: usize,
}

/// A log, and what filters look at.
#[derive(Debug, Clone)]
pub(crate) struct WarmLog {
    pub(crate) address: Address,
    pub(crate) topics: Vec<B256>,
    /// The log as `eth_getLogs` answers it.
    pub(crate) json: Bytes,
}

/// News of the chain, for whoever pushes them on.
#[derive(Debug, Clone)]
pub(crate) enum ChainNews {
    /// The next block after the last one told.
    Block(std::sync::Arc<WarmBlock>),
    /// Blocks were left out: what comes next does not follow on what was told.
    Gap,
    /// A development chain was set back: blocks that were told of do not exist any more.
    SetBack,
}
