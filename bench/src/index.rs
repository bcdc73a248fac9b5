//! How fast the chain is indexed.
//!
//! The index is measured where it lives: this runs the `index_speed` example of the `indexer` crate, which makes a long
//! chain and indexes it into SQLite and, where `CHAINNET_TEST_POSTGRES` names a server, into PostgreSQL.

use anyhow::{Result, ensure};
use tokio::process::Command;

use crate::machine;

/// How long a chain.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Number of blocks.
    #[arg(long, default_value_t = 100_000)]
    blocks: u64,
    /// Transfers per block.
    #[arg(long, default_value_t = 20)]
    transactions: u64,
}

pub(crate) async fn run(options: Options) -> Result<()> {
    println!("{}\n", machine::description());
    let mut example = Command::new(env!("CARGO"));
    example.args(["run", "--quiet", "--package", "chainnet-indexer", "--example", "index_speed"]);
    example.args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    if !cfg!(debug_assertions) {
        example.arg("--release");
    }
    example.arg("--").args([options.blocks, options.transactions].map(|number| number.to_string()));
    ensure!(example.status().await?.success(), "the measurement failed");
    Ok(())
}
