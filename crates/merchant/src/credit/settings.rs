//! How crediting works, and what it says of itself.

use std::time::Duration;

use alloy_primitives::B256;

/// How crediting works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CreditSettings {
    /// Whether the chain may take blocks back, so that crediting starts again when it has: on the devnet.
    pub may_rewind: bool,
    /// Most blocks in one transaction.
    pub batch_blocks: u64,
    /// How often the index is looked at when it has yet to take in a block that there is.
    pub index_poll: Duration,
    /// How often crediting looks for blocks that it has not heard of.
    pub idle_poll: Duration,
    /// How long another worker may stand still before this one takes over.
    pub standby: Duration,
}

impl Default for CreditSettings {
    fn default() -> Self {
        Self {
            may_rewind: false,
            batch_blocks: 256,
            index_poll: Duration::from_millis(3),
            idle_poll: Duration::from_secs(1),
            standby: Duration::from_secs(1),
        }
    }
}

/// What crediting is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreditStatus {
    /// Nothing has been looked at yet.
    Starting,
    /// It credits blocks as they come.
    Following,
    /// The index is behind what is credited, and being built again.
    WaitingForIndex,
    /// Another process credits; this one takes over if that one stops.
    Standby,
    /// Stopped until somebody has looked.
    Halted(CreditHalt),
}

/// Why crediting has halted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("block {number} was credited with hash {credited}, the index has {indexed} there")]
pub struct CreditHalt {
    /// The last block that was credited.
    pub number: u64,
    /// Its hash at the time.
    pub credited: B256,
    /// The hash the index has now.
    pub indexed: B256,
}
