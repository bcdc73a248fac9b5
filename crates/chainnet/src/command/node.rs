//! `chainnet node`: the embedded chain alone.

use tracing::info;

use crate::{banner::Banner, cli::NodeOptions, config::Config, embedded::EmbeddedNode, output::say, runtime};

/// Runs the chain until it is told to stop.
pub(crate) fn run(config: &Config, options: &NodeOptions) -> anyhow::Result<()> {
    runtime::run(serve(config, options))
}

async fn serve(config: &Config, options: &NodeOptions) -> anyhow::Result<()> {
    let node = EmbeddedNode::start(config, options).await?;
    say(Banner::of_node(config, &node).short());
    let ended = tokio::select! {
        told = runtime::told_to_stop() => told,
        error = node.failed() => Err(error),
    };
    info!("stopping");
    node.stop().await.and(ended)
}
