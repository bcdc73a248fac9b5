//! `chainnet up`: everything the network needs in one process.

use crate::{
    chain_source::ChainSource,
    cli::NodeOptions,
    config::Config,
    process::{self, Roles},
    runtime,
};

/// Runs everything until it is told to stop.
pub(crate) fn run(config: &Config, options: &NodeOptions) -> anyhow::Result<()> {
    runtime::run(async {
        let chain = ChainSource::nodes_or_embedded(config, options).await?;
        process::run(config, chain, Roles::All).await
    })
}
