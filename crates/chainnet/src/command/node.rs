//! `chainnet up` and `chainnet node`: running the embedded chain.

use std::{io::ErrorKind, net::IpAddr, sync::Arc, time::Duration};

use anyhow::{Context, anyhow, bail};
use devchain::{
    chain::Chain,
    produce::{Pacing, Production},
    rpc::{self, ApiGroups, Group, RpcConfig},
};
use domain::Network;
use ibft::seal::ValidatorKey;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::{
    banner::Banner,
    cli::{NodeOptions, Place},
    keys::NetworkKeys,
    network_genesis,
    output::say,
};

/// How long open connections may finish after a stop was asked for.
const DRAIN: Duration = Duration::from_secs(5);

/// What is printed after the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Addresses, accounts and what to try next.
    NextSteps,
    /// Where the node listens.
    NodeAlone,
}

/// Runs the chain until it is told to stop.
pub(crate) fn run(place: &Place, options: &NodeOptions, shown: Shown) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    runtime.block_on(serve(place, options, shown))
}

async fn serve(place: &Place, options: &NodeOptions, shown: Shown) -> anyhow::Result<()> {
    let keys = NetworkKeys::load(place.network, &place.data_dir())?;
    let genesis = network_genesis::load(place, &keys, options.genesis.as_deref())?;
    let listener = listen(place, options).await?;
    let address = listener.local_addr().context("cannot read the listening address")?;
    let chain = Chain::open(&place.chain_dir(), &genesis)?;
    let pacing = if options.on_demand { Pacing::OnDemand } else { Pacing::Timed };
    let production = Production::start(chain.clone(), keys.validators.clone(), pacing)
        .context("cannot start block production")?;

    warn_without_quorum(&chain, &keys);

    let stop = CancellationToken::new();
    let server = tokio::spawn(rpc::serve(
        listener,
        Arc::new(rpc::Node { chain: chain.clone(), control: production.control().clone() }),
        RpcConfig { groups: groups(place.network), ..RpcConfig::default() },
        stop.clone(),
    ));
    let banner = Banner {
        place,
        keys: &keys,
        chain_id: chain.spec().chain_id,
        head: chain.head().block.number(),
        rpc: address,
    };
    say(match shown {
        Shown::NextSteps => banner.with_next_steps(),
        Shown::NodeAlone => banner.node_alone(),
    });

    let ended = wait_for_end(&production).await;
    info!("stopping");
    stop.cancel();
    // Connections that do not end in time are cut.
    let _ = tokio::time::timeout(DRAIN, server).await;
    tokio::task::spawn_blocking(move || production.stop()).await.context("block production panicked")??;
    ended
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

/// Waits for a signal, or for block production to fail.
async fn wait_for_end(production: &Production) -> anyhow::Result<()> {
    let mut terminate = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())
        .context("cannot listen for signals")?;
    let mut watch = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            result = tokio::signal::ctrl_c() => return result.context("cannot listen for signals"),
            _ = terminate.recv() => return Ok(()),
            _ = watch.tick() => if production.has_ended() {
                return Err(anyhow!("block production has ended, see the cause in the log"));
            }
        }
    }
}

async fn listen(place: &Place, options: &NodeOptions) -> anyhow::Result<TcpListener> {
    let host = options.rpc_host.unwrap_or(IpAddr::from([127, 0, 0, 1]));
    let port = options.rpc_port.unwrap_or(place.network.node_rpc_port());
    match TcpListener::bind((host, port)).await {
        Ok(listener) => Ok(listener),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {
            bail!("port {port} on {host} is already in use; choose another with --rpc-port or NODE_RPC_PORT")
        }
        Err(error) => Err(error).with_context(|| {
            format!("cannot listen on {host} port {port}; choose others with --rpc-host and --rpc-port (NODE_RPC_HOST, NODE_RPC_PORT)")
        }),
    }
}
