//! `chainnet api`: REST and GraphQL alone, over nodes and a database that a worker fills.

use crate::{
    chain_source::ChainSource,
    config::Config,
    process::{self, Roles},
    runtime,
};

/// Serves until it is told to stop.
pub(crate) fn run(config: &Config) -> anyhow::Result<()> {
    runtime::run(async {
        let chain = ChainSource::nodes(config).await?;
        process::run(config, chain, Roles::Api).await
    })
}
