//! What an operator decides about the gateway.

use std::{num::NonZeroU32, time::Duration};

use domain::gas::DEFAULT_TRANSACTION_GAS_CAP;

/// Requests of one address in a minute, on networks that need no key.
const PUBLIC_REQUESTS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(300).unwrap();

/// Who is let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Door {
    /// Whoever holds a key with the permission `rpc`, counted by key.
    Keys,
    /// Everybody, counted by address.
    Open {
        /// Requests of one address in a minute.
        requests_per_minute: NonZeroU32,
    },
}

/// Which web pages may call from a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cors {
    /// Any page.
    Any,
    /// Only these origins, compared letter by letter.
    Origins(Vec<String>),
}

/// Bounds on what one caller, and all of them, can take from the gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Largest HTTP body and WebSocket message, in bytes.
    pub max_body_bytes: usize,
    /// Most requests in one batch.
    pub max_batch: usize,
    /// Requests of one batch that are answered at a time.
    pub batch_parallel: usize,
    /// Longest answer to one message, in bytes.
    pub max_answer_bytes: usize,
    /// Bytes of long requests that are not answered and of long answers that are not sent, of all callers together.
    pub max_buffer_bytes: usize,
    /// Requests of one caller that are answered at a time.
    pub max_concurrent: usize,
    /// Most connections at a time; the next one is told 503.
    pub max_connections: usize,
    /// Most connections of one client address at a time.
    pub max_connections_per_client: usize,
    /// Most WebSockets of one caller at a time.
    pub max_sockets_per_caller: usize,
    /// Messages of one WebSocket that are answered at a time; the next ones wait unread.
    pub max_socket_messages: usize,
    /// Subscriptions of one WebSocket.
    pub max_subscriptions: usize,
    /// How long a connection may take to deliver a request's body, and how long it may take nothing of an answer that is waiting for it.
    pub transfer_timeout: Duration,
    /// How long a connection may stay open without a request, deliver its head, or take an answer over HTTP.
    pub idle_timeout: Duration,
    /// How long open requests may take to finish at the end.
    pub drain: Duration,
    /// How long a caller waits for a node.
    pub node_timeout: Duration,
    /// Most blocks that one log query may span.
    pub max_log_blocks: u64,
    /// Most blocks that one log query to a node may span.
    pub log_chunk: u64,
}

/// What one caller may have of the buffers is this part of them.
const CALLERS_SHARE: usize = 8;

impl Limits {
    /// Bytes of one caller's long requests and answers: a share of all, and enough for the longest answer.
    pub fn max_buffer_per_caller(&self) -> usize {
        let longest = self.max_answer_bytes.saturating_add(self.max_body_bytes);
        (self.max_buffer_bytes / CALLERS_SHARE).max(longest)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: 1024 * 1024,
            max_batch: 100,
            batch_parallel: 24,
            max_answer_bytes: 32 * 1024 * 1024,
            max_buffer_bytes: 512 * 1024 * 1024,
            max_concurrent: 512,
            max_connections: 10_000,
            max_connections_per_client: 2_000,
            max_sockets_per_caller: 1_000,
            max_socket_messages: 16,
            max_subscriptions: 32,
            transfer_timeout: Duration::from_secs(15),
            idle_timeout: Duration::from_secs(60),
            drain: Duration::from_secs(10),
            node_timeout: Duration::from_secs(10),
            max_log_blocks: 50_000,
            log_chunk: 5_000,
        }
    }
}

/// Everything that the gateway needs to know besides its collaborators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GatewayConfig {
    /// Who is let in.
    pub door: Door,
    /// The chain's id.
    pub chain_id: u64,
    /// Answer of `web3_clientVersion`.
    pub client_version: String,
    /// Least price of gas that a transaction must offer, in wei.
    pub min_gas_price: u64,
    /// Highest gas limit of a transaction that is passed on.
    pub max_transaction_gas: u64,
    /// Pages that may call.
    pub cors: Cors,
    /// Bounds.
    pub limits: Limits,
    /// Memory for answers that hold for ever, in bytes.
    pub final_cache_bytes: u64,
    /// Memory for answers that hold until the next head, in bytes.
    pub head_cache_bytes: u64,
    /// A head older than this makes the gateway not ready.
    pub stale_after: Duration,
}

impl Default for GatewayConfig {
    fn default() -> Self {
        Self {
            door: Door::Open { requests_per_minute: PUBLIC_REQUESTS_PER_MINUTE },
            chain_id: 8845,
            client_version: concat!("chainnet-gateway/v", env!("CARGO_PKG_VERSION")).to_owned(),
            min_gas_price: 0,
            max_transaction_gas: DEFAULT_TRANSACTION_GAS_CAP,
            cors: Cors::Any,
            limits: Limits::default(),
            final_cache_bytes: 64 * 1024 * 1024,
            head_cache_bytes: 32 * 1024 * 1024,
            stale_after: Duration::from_secs(30),
        }
    }
}
