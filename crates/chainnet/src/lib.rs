//! The product: configuration, wiring and commands of the `chainnet` binary.

mod banner;
pub mod cli;
mod command;
pub mod config;
mod embedded;
mod keys;
mod listen;
mod logging;
mod network_genesis;
mod output;
mod runtime;

use std::path::Path;

pub use output::say_error;

use cli::{ChainCommand, Cli, Command, NodeCommand};
use command::node::Shown;
use config::{Config, Given};

/// Carries out what the command line asks for.
pub fn run(cli: Cli, given: Given) -> anyhow::Result<()> {
    let config = Config::load(given, Path::new(""))?;
    logging::start(&config.log)?;
    match cli.command.unwrap_or_default() {
        Command::Up(options) => command::node::run(&config, &options, Shown::NextSteps),
        Command::Node(node) => match node.command {
            None => command::node::run(&config, &node.options, Shown::NodeAlone),
            Some(NodeCommand::Ctl(ctl)) => command::ctl::run(&config, &ctl),
        },
        Command::Chain(ChainCommand::Export(export)) => command::transfer::export(&config, &export),
        Command::Chain(ChainCommand::Import(import)) => command::transfer::import(&config, &import),
        Command::Genesis(genesis) => command::genesis::run(&config, &genesis),
        Command::Config(options) => command::config::run(&config, &options),
    }
}
