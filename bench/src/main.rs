//! Measurements of our node beside its peers: the same load on each, in turns, printed as ratios.
//!
//! See `bench/README.md` for what each figure means.

mod accounts;
mod chain;
mod http;
mod index;
mod load;
mod machine;
mod peer;
mod progress;
mod reads;
mod startup;
mod table;
mod transfers;
mod usage;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Measure the node beside its peers")]
struct Arguments {
    #[command(subcommand)]
    subject: Subject,
}

#[derive(Subcommand)]
enum Subject {
    /// Transfers, reads, start-up, memory and disk of our node beside Anvil.
    Chain(chain::Options),
    /// Cost of a block as the number of accounts grows.
    Accounts(accounts::Options),
    /// Blocks indexed per second, on SQLite and PostgreSQL.
    Index(index::Options),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    match Arguments::parse().subject {
        Subject::Chain(options) => chain::run(options).await,
        Subject::Accounts(options) => accounts::run(options).await,
        Subject::Index(options) => index::run(options).await,
    }
}
