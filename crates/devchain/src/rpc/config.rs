//! What the operator decides about the RPC server: which methods, who may ask, and how much.

use std::{
    net::{Ipv4Addr, Ipv6Addr},
    str::FromStr,
    time::Duration,
};

use ipnet::IpNet;

/// A family of methods that is switched on or off as a whole, named as Besu's `--rpc-http-api` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// `eth_*`: blocks, state, transactions, simulation, filters and subscriptions.
    Eth,
    /// `net_*`: identity of the network.
    Net,
    /// `web3_*`: client version and hashing.
    Web3,
    /// `ibft_*`: validators and their votes.
    Ibft,
    /// `txpool_*`: what waits to be mined.
    Txpool,
    /// `debug_*`: traces and raw encodings.
    Debug,
    /// `evm_*`: moving the clock and the head, on a development chain only.
    Evm,
    /// `chainnet_*`: the chain's own validators, for the internal port only.
    Control,
    /// `rpc_*`: always there.
    Rpc,
}

impl Group {
    /// Every group, in the order of the documentation.
    pub const ALL: [Group; 9] = [
        Group::Eth,
        Group::Net,
        Group::Web3,
        Group::Ibft,
        Group::Txpool,
        Group::Debug,
        Group::Evm,
        Group::Control,
        Group::Rpc,
    ];

    /// The methods' prefix, which is also the name in `rpc_modules`.
    pub fn name(self) -> &'static str {
        match self {
            Group::Eth => "eth",
            Group::Net => "net",
            Group::Web3 => "web3",
            Group::Ibft => "ibft",
            Group::Txpool => "txpool",
            Group::Debug => "debug",
            Group::Evm => "evm",
            Group::Control => "chainnet",
            Group::Rpc => "rpc",
        }
    }

    fn bit(self) -> u16 {
        1 << (self as u16)
    }
}

/// A name that is no method group.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown method group {0:?}")]
pub struct UnknownGroup(pub String);

impl FromStr for Group {
    type Err = UnknownGroup;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Group::ALL
            .into_iter()
            .find(|group| group.name().eq_ignore_ascii_case(text.trim()))
            .ok_or_else(|| UnknownGroup(text.to_owned()))
    }
}

/// The groups that a port answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ApiGroups(u16);

impl ApiGroups {
    /// Exactly these groups (and `rpc`, which cannot be switched off).
    pub fn of(groups: &[Group]) -> Self {
        Self(groups.iter().fold(Group::Rpc.bit(), |bits, group| bits | group.bit()))
    }

    /// What Besu offers when nothing is configured.
    pub fn public() -> Self {
        Self::of(&[Group::Eth, Group::Net, Group::Web3])
    }

    /// Every group: a development chain on the loopback address, or an internal port.
    pub fn all() -> Self {
        Self::of(&Group::ALL)
    }

    /// Whether methods of this group are answered.
    pub fn contains(self, group: Group) -> bool {
        self.0 & group.bit() != 0
    }
}

/// Which web pages may call from a browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cors {
    /// Any page, which suits a development chain and lets every browser wallet work.
    Any,
    /// Only these origins, compared letter by letter.
    Origins(Vec<String>),
}

/// Names under which the server may be addressed, a defence against DNS rebinding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hosts {
    /// Any name.
    Any,
    /// Only these names, without port, compared without case.
    Only(Vec<String>),
}

impl Default for Hosts {
    fn default() -> Self {
        Self::Only(["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec())
    }
}

/// Bounds on what one caller can take from the server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Largest HTTP body and WebSocket message, in bytes.
    pub max_body_bytes: usize,
    /// Most requests in one batch.
    pub max_batch: usize,
    /// Most bytes of the answers to one batch; what comes after them is refused.
    pub max_batch_answer_bytes: usize,
    /// Bytes of long requests that are not answered and of long answers that are not sent, in all; one address may have half of them.
    pub max_buffer_bytes: usize,
    /// Most connections at a time; the next one is told 503.
    pub max_connections: usize,
    /// The same of one address.
    pub max_connections_per_address: usize,
    /// How long a connection may take to deliver a body, may take nothing of a long answer, and a WebSocket may take to take an answer off
    /// our hands.
    pub transfer_timeout: Duration,
    /// How long a connection may stay open without a request, deliver its head, or take an answer over HTTP.
    pub idle_timeout: Duration,
    /// Events that a WebSocket may be behind before it is closed as too slow.
    pub max_queued_events: usize,
    /// Subscriptions per WebSocket.
    pub max_subscriptions: usize,
    /// Installed filters, over all callers.
    pub max_filters: usize,
    /// How long a filter lives without being polled.
    pub filter_timeout: Duration,
    /// Gas that one simulated call may use.
    pub call_gas_cap: u64,
    /// Most blocks that one log query may span.
    pub max_log_range: u64,
    /// Most logs in one answer.
    pub max_logs: usize,
    /// Bytes of rendered blocks kept ready to be sent again.
    pub block_cache_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_body_bytes: 5 * 1024 * 1024,
            max_batch: 1024,
            max_batch_answer_bytes: 64 * 1024 * 1024,
            max_buffer_bytes: 256 * 1024 * 1024,
            max_connections: 1024,
            max_connections_per_address: 256,
            transfer_timeout: Duration::from_secs(30),
            idle_timeout: Duration::from_secs(120),
            max_queued_events: 1024,
            max_subscriptions: 128,
            max_filters: 1024,
            filter_timeout: Duration::from_secs(600),
            call_gas_cap: 50_000_000,
            max_log_range: 5_000,
            max_logs: 100_000,
            block_cache_bytes: 8 * 1024 * 1024,
        }
    }
}

/// Everything that [`serve`](super::serve) needs to know besides the chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RpcConfig {
    /// Methods on offer.
    pub groups: ApiGroups,
    /// Pages that may call.
    pub cors: Cors,
    /// Names under which we may be called.
    pub hosts: Hosts,
    /// Addresses that may connect: the node's own port answers everything, so it is for the operator's machines alone.
    pub peers: Vec<IpNet>,
    /// Bounds.
    pub limits: Limits,
    /// Answer of `web3_clientVersion`.
    pub client_version: String,
}

impl Default for RpcConfig {
    fn default() -> Self {
        Self {
            groups: ApiGroups::all(),
            cors: Cors::Any,
            hosts: Hosts::default(),
            peers: vec![
                IpNet::new_assert(Ipv4Addr::LOCALHOST.into(), 8),
                IpNet::new_assert(Ipv6Addr::LOCALHOST.into(), 128),
            ],
            limits: Limits::default(),
            client_version: concat!("chainnet/v", env!("CARGO_PKG_VERSION")).to_owned(),
        }
    }
}
