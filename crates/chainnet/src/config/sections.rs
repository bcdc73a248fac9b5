//! What the parts of the product are configured with.

use std::{net::SocketAddr, num::NonZeroU32, path::PathBuf};

use access::InternalAllowlist;
use chain::remote::NodeUrl;
use domain::Wei;
use ipnet::IpNet;

use super::{LogFormat, Origins, SecretKey, SecretUrl};

/// Logging.
#[derive(Debug)]
pub struct LogConfig {
    /// How lines look.
    pub format: LogFormat,
    /// What is logged.
    pub filter: String,
}

/// The embedded node.
#[derive(Debug)]
pub struct NodeConfig {
    /// Where its JSON-RPC listens.
    pub rpc: SocketAddr,
    /// Genesis file, if not the network's own.
    pub genesis: Option<PathBuf>,
    /// Whether a fresh devnet is shown in use.
    pub demo: bool,
}

/// What gas costs, and how much of it a transaction may ask for.
#[derive(Debug, Clone, Copy)]
pub struct GasConfig {
    /// Least price, in wei.
    pub min_price: u64,
    /// Most gas of one transaction.
    pub transaction_cap: u64,
}

/// REST and GraphQL.
#[derive(Debug)]
pub struct ApiConfig {
    /// Where they listen.
    pub listen: SocketAddr,
    /// Requests of one client address in a minute.
    pub rate_limit: NonZeroU32,
    /// Requests with one developer key in a minute.
    pub developer_key_rate_limit: NonZeroU32,
    /// Whose pages may read the answers.
    pub cors: Origins,
    /// Proxies whose X-Forwarded-For is believed.
    pub trusted_proxies: Vec<IpNet>,
}

/// The JSON-RPC gateway.
#[derive(Debug)]
pub struct GatewayConfig {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Requests of one client address in a minute, without a key.
    pub rate_limit: NonZeroU32,
    /// Whose pages may read the answers.
    pub cors: Origins,
    /// Memory for long requests and answers that are under way, in MiB.
    pub buffer_mib: NonZeroU32,
}

/// The faucet. Mainnet has none, whatever stands here.
#[derive(Debug)]
pub struct FaucetConfig {
    /// Where it listens.
    pub listen: SocketAddr,
    /// What it pays out in a day at most.
    pub daily_cap: Wei,
    /// What it pays with, if not the network's own key.
    pub key: Option<SecretKey>,
}

/// The explorer.
#[derive(Debug)]
pub struct ExplorerConfig {
    /// Where it listens.
    pub listen: SocketAddr,
}

/// The keeper.
#[derive(Debug)]
pub struct KeeperConfig {
    /// What it signs with, if not the network's own key.
    pub key: Option<SecretKey>,
    /// Whether it slashes.
    pub auto_slash: bool,
    /// Whether it has validators vote.
    pub auto_vote: bool,
    /// Validators' nodes that it may have vote.
    pub voters: Vec<NodeUrl>,
}

/// The developer and merchant portal.
#[derive(Debug)]
pub struct PortalConfig {
    /// What developer keys are kept under, if not a secret of the data directory.
    pub pepper: Option<SecretKey>,
    /// What seals the secrets of webhooks, if not a key of the data directory.
    pub webhook_key: Option<SecretKey>,
    /// Whether webhooks may lead to private networks.
    pub webhook_allow_private: bool,
}

/// Who may ask.
#[derive(Debug)]
pub struct AccessConfig {
    /// Who may use the node's own port.
    pub internal: InternalAllowlist,
    /// Requests in a minute of a key that is issued without a limit.
    pub key_rate_limit: NonZeroU32,
    /// Where limits are shared, if they are.
    pub redis: Option<SecretUrl>,
}
