//! What a block costs as the number of accounts grows.
//!
//! State and store are measured where they live: this runs the `state_cost` example of the `devchain` crate, which
//! fills a store with accounts and commits blocks of transfers among them.

use anyhow::{Result, ensure};
use tokio::process::Command;

use crate::machine;

/// How many accounts.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Numbers of accounts to measure at.
    #[arg(default_values_t = [10_000, 100_000, 1_000_000])]
    accounts: Vec<u64>,
}

pub(crate) async fn run(options: Options) -> Result<()> {
    println!("{}\n", machine::description());
    let mut example = Command::new(env!("CARGO"));
    example.args(["run", "--quiet", "--package", "chainnet-devchain", "--example", "state_cost"]);
    example.args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    if !cfg!(debug_assertions) {
        example.arg("--release");
    }
    example.arg("--").args(options.accounts.iter().map(u64::to_string));
    ensure!(example.status().await?.success(), "the measurement failed");
    Ok(())
}
