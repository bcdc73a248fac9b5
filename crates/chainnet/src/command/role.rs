//! `chainnet api`, `worker`, `gateway`, `faucet`, `explorer`: one role alone, over nodes and a database that others share.

use crate::{
    chain_source::ChainSource,
    config::Config,
    process::{self, Roles},
    runtime,
};

/// Runs the role until it is told to stop.
pub(crate) fn run(config: &Config, role: Roles) -> anyhow::Result<()> {
    runtime::run(async {
        let chain = ChainSource::nodes(config).await?;
        process::run(config, chain, role).await
    })
}
