//! What an operator decides about the edge.

use std::time::Duration;

use access::Counting;
use ipnet::IpNet;
use tokio_util::sync::CancellationToken;

use super::cors::CorsOrigins;
use crate::serve::ConnectionLimits;

/// What an operator decides about the edge.
#[derive(Debug, Clone)]
pub struct EdgeConfig {
    /// Requests per client and minute.
    pub requests_per_minute: u32,
    /// Requests with one developer key in a minute, from wherever it is used; at least as many as a client has.
    pub developer_key_requests_per_minute: u32,
    /// Where they are counted.
    pub counting: Counting,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Bounds on connections, where this edge is served on a port of its own.
    pub connections: ConnectionLimits,
    /// Origins whose pages may read answers.
    pub cors: CorsOrigins,
    /// How long an answer may take to make.
    pub time_limit: Duration,
    /// Memory for kept answers.
    pub cache_bytes: u64,
    /// First part of request ids: different for every process.
    pub instance: String,
    /// Tells WebSockets to go.
    pub stop: CancellationToken,
}

impl Default for EdgeConfig {
    /// The specification's limit, no proxies, every origin.
    fn default() -> Self {
        Self {
            requests_per_minute: 100,
            developer_key_requests_per_minute: 600,
            counting: Counting::default(),
            trusted_proxies: Vec::new(),
            connections: ConnectionLimits::default(),
            cors: CorsOrigins::Any,
            time_limit: Duration::from_secs(10),
            cache_bytes: 24 * 1024 * 1024,
            instance: "local".to_owned(),
            stop: CancellationToken::new(),
        }
    }
}
