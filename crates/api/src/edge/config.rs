//! What an operator decides about the edge.

use std::time::Duration;

use ipnet::IpNet;

use super::cors::CorsOrigins;

/// What an operator decides about the edge.
#[derive(Debug, Clone)]
pub struct EdgeConfig {
    /// Requests per client and minute.
    pub requests_per_minute: u32,
    /// Proxies whose `X-Forwarded-For` is believed.
    pub trusted_proxies: Vec<IpNet>,
    /// Origins whose pages may read answers.
    pub cors: CorsOrigins,
    /// How long an answer may take to make.
    pub time_limit: Duration,
    /// Memory for kept answers.
    pub cache_bytes: u64,
    /// First part of request ids: different for every process.
    pub instance: String,
}

impl Default for EdgeConfig {
    /// The specification's limit, no proxies, every origin.
    fn default() -> Self {
        Self {
            requests_per_minute: 100,
            trusted_proxies: Vec::new(),
            cors: CorsOrigins::Any,
            time_limit: Duration::from_secs(10),
            cache_bytes: 24 * 1024 * 1024,
            instance: "local".to_owned(),
        }
    }
}
