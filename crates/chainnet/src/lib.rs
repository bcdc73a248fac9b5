//! The product: configuration, wiring and commands of the `chainnet` binary.

mod banner;
pub mod cli;
mod command;
mod keys;
mod logging;
mod network_genesis;
mod output;

pub use output::say_error;

use cli::{Cli, Command};

/// Carries out what the command line asks for.
pub fn run(cli: Cli) -> anyhow::Result<()> {
    logging::start(cli.log_format)?;
    let place = cli.place;
    match cli.command.unwrap_or_default() {
        Command::Up(options) => command::node::run(&place, &options, command::node::Shown::NextSteps),
        Command::Node(node) => match node.command {
            None => command::node::run(&place, &node.options, command::node::Shown::NodeAlone),
            Some(cli::NodeCommand::Ctl(ctl)) => command::ctl::run(&place, &ctl),
        },
        Command::Chain(cli::ChainCommand::Export(export)) => command::transfer::export(&place, &export),
        Command::Chain(cli::ChainCommand::Import(import)) => command::transfer::import(&place, &import),
        Command::Genesis(genesis) => command::genesis::run(&place, &genesis),
    }
}
