//! The chain behind one or many external nodes, over HTTP and WebSocket.
//!
//! Every node is followed on its own; the newest block that any of them shows is the served head, and all reads are about
//! it or a block below it. A question goes to a healthy node, and to the next one if that fails. What nodes answer is
//! checked against the block hashes before anybody sees it. Caching is not done here, see [`crate::Cached`].

mod ask;
mod bundle;
mod config;
mod connection;
mod decode;
mod dial;
mod feed;
mod health;
mod jsonrpc;
mod node;
mod pick;
mod pools;
mod raw;
mod reads;
mod send;
mod served;
mod transport;
mod url;
mod verdict;
mod voter;
mod witness;

use std::sync::{Arc, OnceLock};

use alloy_primitives::U64;
use futures_util::future::join_all;
use tokio::{sync::Notify, task::JoinSet};

pub use config::RemoteConfig;
pub use node::Node;
pub use url::{NodeUrl, NodeUrlError};

use self::{dial::Dialer, feed::Feed, pools::Pools, raw::Hedging, served::ServedHead};
use crate::ChainError;

/// Why nodes cannot be used at all.
#[derive(Debug, thiserror::Error)]
pub enum ConnectError {
    /// The list is empty.
    #[error("no node is named")]
    NoNodes,
    /// A node is on another chain.
    #[error("node {node} is on chain {found}, not on chain {expected}")]
    WrongChain {
        /// Where the node is.
        node: NodeUrl,
        /// Its chain id.
        found: u64,
        /// The chain id asked for.
        expected: u64,
    },
    /// The nodes are on different chains.
    #[error("node {node} is on chain {found}, but node {other} is on chain {expected}")]
    Disagreement {
        /// Where the one node is.
        node: NodeUrl,
        /// Its chain id.
        found: u64,
        /// Where the other node is.
        other: NodeUrl,
        /// Its chain id.
        expected: u64,
    },
    /// A node wants TLS, and no certificates to trust are found on this machine.
    #[error("no certificates to trust are found, which https and wss need")]
    Certificates(#[source] std::io::Error),
}

/// What the readers and the feeds have in common.
struct Shared {
    nodes: Vec<Arc<Node>>,
    dialer: Arc<Dialer>,
    served: ServedHead,
    pools: Arc<Pools>,
    /// The configured chain id, or that of the first node that told one.
    chain_id: OnceLock<u64>,
    /// When a second node is asked for the same.
    hedging: Hedging,
    /// Told whenever a node has shown its head.
    moved: Notify,
    config: RemoteConfig,
}

impl Shared {
    /// Asks a node for its chain; whether it is the right one.
    async fn verify(&self, node: &Node) -> Result<bool, ChainError> {
        let found = chain_id(node).await?;
        let expected = *self.chain_id.get_or_init(|| found);
        if found == expected {
            node.note_verified();
        } else if node.note_stranger() {
            tracing::error!(node = %node.url(), found, expected, "a node is on another chain and is not asked");
        }
        Ok(found == expected)
    }
}

async fn chain_id(node: &Node) -> Result<u64, ChainError> {
    let read = |json: &serde_json::value::RawValue| Ok(serde_json::from_str::<U64>(json.get())?.to());
    node.probe("eth_chainId", [(); 0], read).await
}

/// Reads the chain from external nodes.
pub struct RemoteClient {
    shared: Arc<Shared>,
    /// Ends with the client.
    _feeds: JoinSet<()>,
}

impl RemoteClient {
    /// Starts to follow these nodes. Nodes that do not answer are no error: they are used as soon as they do.
    pub async fn connect(nodes: &[NodeUrl], config: RemoteConfig) -> Result<Self, ConnectError> {
        if nodes.is_empty() {
            return Err(ConnectError::NoNodes);
        }
        let dialer = Arc::new(Dialer::new(nodes).map_err(ConnectError::Certificates)?);
        let node = |url: &NodeUrl| Arc::new(Node::new(url.clone(), Arc::clone(&dialer), config.clone()));
        let shared = Arc::new(Shared {
            nodes: nodes.iter().map(node).collect(),
            dialer: Arc::clone(&dialer),
            served: ServedHead::new(config.follow_reverts && nodes.len() == 1),
            pools: Arc::default(),
            chain_id: config.chain_id.map_or_else(OnceLock::new, OnceLock::from),
            hedging: Hedging::default(),
            moved: Notify::new(),
            config,
        });
        check_chain_ids(&shared).await?;
        let feeds: Vec<_> =
            shared.nodes.iter().map(|node| Feed::new(Arc::clone(&shared), Arc::clone(node))).collect();
        // So that a head is there from the start if there is a node.
        join_all(feeds.iter().map(|feed| feed.ask_once())).await;
        let mut tasks = JoinSet::new();
        for feed in feeds {
            tasks.spawn(feed.run());
        }
        Ok(Self { shared, _feeds: tasks })
    }

    /// The nodes in the order they were named.
    pub fn nodes(&self) -> &[Arc<Node>] {
        &self.shared.nodes
    }
}

async fn check_chain_ids(shared: &Shared) -> Result<(), ConnectError> {
    let ids = join_all(shared.nodes.iter().map(|node| chain_id(node))).await;
    let mut first: Option<(&Node, u64)> = None;
    for (node, id) in shared.nodes.iter().zip(ids) {
        let Ok(found) = id else { continue };
        if let Some(expected) = shared.config.chain_id.filter(|expected| *expected != found) {
            return Err(ConnectError::WrongChain { node: node.url().clone(), found, expected });
        }
        match first {
            Some((other, expected)) if expected != found => {
                let (node, other) = (node.url().clone(), other.url().clone());
                return Err(ConnectError::Disagreement { node, found, other, expected });
            }
            Some(_) => {}
            None => first = Some((node, found)),
        }
        shared.chain_id.get_or_init(|| found);
        node.note_verified();
    }
    Ok(())
}
