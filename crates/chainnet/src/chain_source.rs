//! Where the chain of a process is: inside it, or behind nodes.

use std::sync::Arc;

use anyhow::{Context, bail};
use chain::{
    CacheLimits, Cached, ChainClient, RawUpstream, Witness,
    remote::{NodeUrl, RemoteClient, RemoteConfig},
};
use devchain::{
    client::EmbeddedClient,
    rpc::{InProcess, Limits},
};
use domain::Network;

use crate::{cli::NodeOptions, config::Config, database_file, embedded::EmbeddedNode};

/// The chain of a process.
pub(crate) struct ChainSource {
    /// What everything reads from.
    pub(crate) client: Arc<dyn ChainClient>,
    /// Where the gateway passes calls on to.
    pub(crate) upstream: Arc<dyn RawUpstream>,
    /// The nodes one by one, where there are several to compare.
    pub(crate) witnesses: Vec<Arc<dyn Witness>>,
    /// The chain itself, when it runs inside.
    pub(crate) node: Option<EmbeddedNode>,
}

impl ChainSource {
    /// The configured nodes; without any, the embedded chain.
    pub(crate) async fn nodes_or_embedded(config: &Config, options: &NodeOptions) -> anyhow::Result<Self> {
        if !config.nodes.is_empty() {
            return Self::nodes(config).await;
        }
        database_file::check(config)?;
        let node = EmbeddedNode::start(config, options).await?;
        let client = Arc::new(EmbeddedClient::new(node.chain.clone()));
        let upstream = Arc::new(InProcess::new(node.methods.clone(), Limits::default()));
        Ok(Self { client, upstream, witnesses: Vec::new(), node: Some(node) })
    }

    /// The configured nodes.
    pub(crate) async fn nodes(config: &Config) -> anyhow::Result<Self> {
        if config.nodes.is_empty() {
            bail!(
                "no node to read the chain from; name one with --rpc-url or PLATFORM_RPC_URL, such as \
                 http://127.0.0.1:8545, or run `chainnet up`, which has a chain inside"
            );
        }
        let client = connect(config, &config.nodes).await?;
        let nodes = client.inner().nodes();
        let is_alone = nodes.len() < 2;
        let witnesses = nodes.iter().filter(|_| !is_alone).map(|node| Arc::clone(node) as _).collect();
        Ok(Self { upstream: client.inner().clone(), client: Arc::new(client), witnesses, node: None })
    }

    /// Waits until the chain inside has failed; for ever when there is none.
    pub(crate) async fn failed(&self) -> anyhow::Error {
        match &self.node {
            Some(node) => node.failed().await,
            None => std::future::pending().await,
        }
    }

    /// Stops the chain inside.
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        match self.node {
            Some(node) => node.stop().await,
            None => Ok(()),
        }
    }
}

/// A client of nodes that remembers what is final.
pub(crate) async fn connect(config: &Config, nodes: &[NodeUrl]) -> anyhow::Result<Cached<RemoteClient>> {
    let settings = RemoteConfig {
        chain_id: Some(config.network.chain_id()),
        // Somebody who tries things out may take blocks back; on other networks that is a node gone wrong.
        follow_reverts: config.network == Network::Devnet,
        min_gas_price: config.gas.min_price,
        ..RemoteConfig::default()
    };
    let remote = RemoteClient::connect(nodes, settings).await.context("the nodes cannot be used")?;
    Ok(Cached::new(remote, &CacheLimits::default()))
}
