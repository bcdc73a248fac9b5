//! `chainnet worker`: index, applications and mail alone, over nodes.

use crate::{
    chain_source::ChainSource,
    config::Config,
    process::{self, Roles},
    runtime,
};

/// Works until it is told to stop.
pub(crate) fn run(config: &Config) -> anyhow::Result<()> {
    runtime::run(async {
        let chain = ChainSource::nodes(config).await?;
        process::run(config, chain, Roles::Worker).await
    })
}
