//! `chainnet node`: the embedded chain alone.

use std::sync::Arc;

use anyhow::Context;
use devchain::{
    client::EmbeddedClient,
    rpc::{InProcess, Limits},
};
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;
use tracing::info;

use crate::{
    banner::Banner,
    cli::NodeOptions,
    config::Config,
    embedded::EmbeddedNode,
    listen,
    metrics::{self, Metrics, Probe, chain_figures},
    output::say,
    runtime,
};

/// Runs the chain until it is told to stop.
pub(crate) fn run(config: &Config, options: &NodeOptions) -> anyhow::Result<()> {
    runtime::run(serve(config, options))
}

async fn serve(config: &Config, options: &NodeOptions) -> anyhow::Result<()> {
    let listener = listen::listen(config.metrics, &listen::METRICS).await?;
    let address = listener.local_addr().context("cannot read the listening address")?;
    let node = EmbeddedNode::start(config, options).await?;
    let (metrics, probe) = operators(config, &node);
    let stop = CancellationToken::new();
    let server = tokio::spawn(metrics::serve(listener, metrics, probe, stop.clone()));
    say(Banner::of_node(config, &node, address).short());
    let ended = tokio::select! {
        told = runtime::told_to_stop() => told,
        error = node.failed() => Err(error),
    };
    info!("stopping");
    let stopped = node.stop().await;
    stop.cancel();
    // It ends by itself, and has nothing to lose.
    let _ = server.await;
    stopped.and(ended)
}

/// What operators are told of a node.
fn operators(config: &Config, node: &EmbeddedNode) -> (Metrics, Probe) {
    let metrics = Metrics::new(config.network.name(), "node");
    let client: Arc<dyn chain::ChainClient> = Arc::new(EmbeddedClient::new(node.chain.clone()));
    let upstream: Arc<dyn chain::RawUpstream> =
        Arc::new(InProcess::new(node.methods.clone(), Limits::default()));
    chain_figures(&metrics, &client, &upstream);
    node.metrics().add_to(&metrics);
    let probe = Probe {
        network: config.network.name(),
        role: "node",
        started_at: Timestamp::now(),
        chain: client,
        db: None,
        is_draining: Arc::default(),
    };
    (metrics, probe)
}
