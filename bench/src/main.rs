//! Measurements of our node beside its peers: the same load on each, in turns, printed as ratios.
//!
//! See `bench/README.md` for what each figure means.

mod accounts;
mod api;
mod chain;
mod faucet;
mod gateway;
mod heads;
mod http;
mod index;
mod load;
mod machine;
mod pages;
mod peer;
mod portal;
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
    /// Hot reads of the API beside a bare handler, memory and start of the idle product.
    Api(api::Options),
    /// The peer of `api`: a server that returns a file's bytes.
    #[command(hide = true)]
    Bare(api::BareOptions),
    /// Blocks indexed per second, on SQLite and PostgreSQL.
    Index(index::Options),
    /// The gateway beside nginx and the nodes it stands before.
    Gateway(gateway::Options),
    /// A node of `gateway` that answers a batch one call after the other.
    #[command(hide = true)]
    SerialNode(gateway::SerialOptions),
    /// Claims of many wallets at once.
    Faucet(faucet::Options),
    /// Lists of invoices, payments until their webhooks, and a long queue of deliveries.
    Portal(portal::Options),
    /// Rendered pages beside a bare handler, and many watchers of the home page.
    Pages(pages::Options),
}

fn main() -> anyhow::Result<()> {
    let subject = Arguments::parse().subject;
    let mut runtime = match subject {
        // A server gets as many threads as ours does; a load generator shares the cores with it and has one.
        Subject::Bare(_) | Subject::SerialNode(_) => tokio::runtime::Builder::new_multi_thread(),
        Subject::Chain(_)
        | Subject::Accounts(_)
        | Subject::Api(_)
        | Subject::Index(_)
        | Subject::Gateway(_)
        | Subject::Faucet(_)
        | Subject::Portal(_)
        | Subject::Pages(_) => tokio::runtime::Builder::new_current_thread(),
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
        Subject::Gateway(options) => gateway::run(options).await,
        Subject::SerialNode(options) => gateway::serve_serially(options).await,
        Subject::Faucet(options) => faucet::run(options).await,
        Subject::Portal(options) => portal::run(options).await,
        Subject::Pages(options) => pages::run(options).await,
    }
}
