//! The embedded chain as a part of the process: opened, producing blocks, answering JSON-RPC, stopped in order.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::{Context, anyhow};
use devchain::{
    chain::Chain,
    clock::ChainClock,
    pool::PoolLimits,
    produce::{Pacing, Production},
    rpc::{self, ApiGroups, Group, RpcConfig},
};
use domain::Network;
use ibft::seal::ValidatorKey;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tracing::warn;

use crate::{
    cli::NodeOptions, config::Config, data_dir, database_file, keys::NetworkKeys, listen,
    metrics::DevchainSource, network_genesis,
};

/// How long open connections may finish after a stop was asked for.
const DRAIN: Duration = Duration::from_secs(5);
/// Pause between two looks at whether blocks are still produced.
const WATCH: Duration = Duration::from_secs(1);

/// The running embedded chain.
pub(crate) struct EmbeddedNode {
    pub(crate) chain: Arc<Chain>,
    pub(crate) keys: NetworkKeys,
    pub(crate) rpc: SocketAddr,
    /// What JSON-RPC methods ask.
    pub(crate) methods: Arc<rpc::Node>,
    production: Production,
    server: JoinHandle<()>,
    stop: CancellationToken,
}

impl EmbeddedNode {
    /// Opens the chain and starts its validators and its JSON-RPC server.
    pub(crate) async fn start(config: &Config, options: &NodeOptions) -> anyhow::Result<Self> {
        let keys = NetworkKeys::load(config.network, &config.data)?;
        let genesis = network_genesis::load(config, &keys)?;
        let listener = listen::listen(config.node.rpc, &listen::NODE_RPC).await?;
        let rpc = listener.local_addr().context("cannot read the listening address")?;
        data_dir::create(&config.data)?;
        database_file::before_chain(config)?;
        let limits = PoolLimits {
            min_gas_price: config.gas.min_price.into(),
            max_transaction_gas: config.gas.transaction_cap,
            ..PoolLimits::default()
        };
        let chain = Chain::open_with(&config.chain_dir(), &genesis, limits, ChainClock::default())?;
        let pacing = if options.on_demand { Pacing::OnDemand } else { Pacing::Timed };
        let production = Production::start(chain.clone(), keys.validators.clone(), pacing)
            .context("cannot start block production")?;
        warn_without_quorum(&chain, &keys);
        let stop = CancellationToken::new();
        let methods = Arc::new(rpc::Node { chain: chain.clone(), control: production.control().clone() });
        let rpc_config = RpcConfig {
            groups: groups(config.network),
            peers: config.access.internal.networks().to_vec(),
            ..RpcConfig::default()
        };
        let serving = rpc::serve(listener, methods.clone(), rpc_config, stop.clone());
        let server = tokio::spawn(async move {
            if let Err(error) = serving.await {
                tracing::error!(%error, "the threads of the node's JSON-RPC cannot be started");
            }
        });
        Ok(Self { chain, keys, rpc, methods, production, server, stop })
    }

    /// What it has to tell operators.
    pub(crate) fn metrics(&self) -> DevchainSource {
        DevchainSource { chain: self.chain.clone(), production: self.production.metrics().clone() }
    }

    /// Waits until block production has failed.
    pub(crate) async fn failed(&self) -> anyhow::Error {
        let mut watch = tokio::time::interval(WATCH);
        loop {
            watch.tick().await;
            if self.production.has_ended() {
                return anyhow!("block production has ended, see the cause in the log");
            }
            if self.server.is_finished() {
                return anyhow!("the node's JSON-RPC has ended, see the cause in the log");
            }
        }
    }

    /// Lets open connections finish, then stops the validators.
    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        self.stop.cancel();
        // Connections that do not end in time are cut.
        let _ = tokio::time::timeout(DRAIN, self.server).await;
        let production = self.production;
        tokio::task::spawn_blocking(move || production.stop())
            .await
            .context("block production panicked")??;
        Ok(())
    }
}

/// A genesis file may name validators whose keys are elsewhere; then nothing will ever be sealed here.
fn warn_without_quorum(chain: &Chain, keys: &NetworkKeys) {
    let validators = chain.head().tally.validators();
    let ours = keys.validators.iter().filter(|key| validators.contains(&key.address())).count();
    let quorum = ibft::quorum::quorum(validators.len());
    if ours < quorum {
        warn!(
            "this node has the keys of {ours} of {} validators, {quorum} are needed to seal a block",
            validators.len()
        );
    }
}

/// Method groups of the node's own port. Moving the clock and the head is for devnet alone.
fn groups(network: Network) -> ApiGroups {
    match network {
        Network::Devnet => ApiGroups::all(),
        Network::Testnet | Network::Mainnet => {
            let all = Group::ALL.into_iter().filter(|group| *group != Group::Evm);
            ApiGroups::of(&all.collect::<Vec<_>>())
        }
    }
}
