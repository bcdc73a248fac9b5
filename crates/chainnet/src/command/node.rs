//! `chainnet node`: the embedded chain alone.

use tracing::info;

use crate::{banner::Banner, cli::NodeOptions, config::Config, embedded::EmbeddedNode, output::say, runtime};

/// What is printed after the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shown {
    /// Addresses, accounts and what to try next.
    NextSteps,
    /// Where the node listens.
    NodeAlone,
}

/// Runs the chain until it is told to stop.
pub(crate) fn run(config: &Config, options: &NodeOptions, shown: Shown) -> anyhow::Result<()> {
    runtime::run(serve(config, options, shown))
}

async fn serve(config: &Config, options: &NodeOptions, shown: Shown) -> anyhow::Result<()> {
    let node = EmbeddedNode::start(config, options).await?;
    let banner = Banner::of_node(config, &node);
    say(match shown {
        Shown::NextSteps => banner.with_next_steps(),
        Shown::NodeAlone => banner.short(),
    });
    let ended = tokio::select! {
        told = runtime::told_to_stop() => told,
        error = node.failed() => Err(error),
    };
    info!("stopping");
    node.stop().await.and(ended)
}
