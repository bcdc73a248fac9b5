//! Measurements of our node beside its peers: the same load on each, in turns, printed as ratios.
//!
//! See `bench/README.md` for what each figure means.

mod accounts;
mod api;
mod chain;
mod http;
mod index;
mod load;
mod machine;
mod peer;
mod progress;
mod push;
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
    /// Hot reads of the API beside a bare handler, memory and start of the idle product.
    Api(api::Options),
    /// The peer of `api`: a server that returns a file's bytes.
    #[command(hide = true)]
    Bare(api::BareOptions),
    /// Blocks indexed per second, on SQLite and PostgreSQL.
    Index(index::Options),
    /// Thousands of subscribers of a running gateway: delay of the last one, memory of each.
    Push(push::Options),
}

fn main() -> anyhow::Result<()> {
    let subject = Arguments::parse().subject;
    let mut runtime = match subject {
        // A server gets as many threads as ours does; a load generator shares the cores with it and has one.
        Subject::Bare(_) => tokio::runtime::Builder::new_multi_thread(),
        Subject::Chain(_) | Subject::Accounts(_) | Subject::Api(_) | Subject::Index(_) | Subject::Push(_) => {
            tokio::runtime::Builder::new_current_thread()
        }
    };
    runtime.enable_all().build()?.block_on(run(subject))
}

async fn run(subject: Subject) -> anyhow::Result<()> {
    match subject {
        Subject::Chain(options) => chain::run(options).await,
        Subject::Accounts(options) => accounts::run(options).await,
        Subject::Api(options) => api::run(options).await,
        Subject::Bare(options) => api::serve_bare(options).await,
        Subject::Index(options) => index::run(options).await,
        Subject::Push(options) => push::run(options).await,
    }
}
