//! What an operator decides about the nodes, with the values that suit a chain of 2-second blocks.

use std::time::Duration;

/// How nodes are asked and judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteConfig {
    /// The chain that the nodes must be on; without it, whatever they agree on.
    pub chain_id: Option<u64>,
    /// Most connections to one node. Besu closes the door at 80, over all who ask it.
    pub max_connections: usize,
    /// Most calls that wait for one of them; more are refused at once.
    pub max_waiting: usize,
    /// How long a node may take to answer a request, waiting for a connection included.
    pub request_timeout: Duration,
    /// Longest answer that is read.
    pub max_answer_bytes: usize,
    /// How often a node without WebSocket feed is asked for its head.
    pub poll_interval: Duration,
    /// A node this many blocks behind the served head is still asked; one that is further behind is not.
    pub max_lag_blocks: u64,
    /// Failures in a row after which a node is left alone.
    pub failures_before_pause: u32,
    /// How long it is left alone, unless it shows signs of life before.
    pub pause: Duration,
    /// Longest wait before a lost WebSocket is opened again.
    pub max_reconnect_wait: Duration,
    /// Follow a head that goes back. Only for a single development node whose user calls `evm_revert`: on any other chain
    /// a lower head is a node that has fallen behind.
    pub follow_reverts: bool,
    /// Least price of gas, in wei, that transactions of ours offer, also where a node asks for less.
    pub min_gas_price: u64,
}

impl RemoteConfig {
    /// Connections to one node for what others ask; the last one is for our own questions.
    pub(super) fn max_places(&self) -> usize {
        self.max_connections.saturating_sub(1).max(1)
    }
}

impl Default for RemoteConfig {
    fn default() -> Self {
        Self {
            chain_id: None,
            max_connections: 24,
            max_waiting: 1024,
            request_timeout: Duration::from_secs(10),
            max_answer_bytes: 64 * 1024 * 1024,
            poll_interval: Duration::from_secs(1),
            max_lag_blocks: 3,
            failures_before_pause: 3,
            pause: Duration::from_secs(5),
            max_reconnect_wait: Duration::from_secs(30),
            follow_reverts: false,
            min_gas_price: 0,
        }
    }
}
