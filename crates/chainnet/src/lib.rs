//! The product: configuration, wiring and commands of the `chainnet` binary.

mod banner;
mod chain_source;
pub mod cli;
mod command;
pub mod config;
mod data_dir;
mod database_file;
mod demo;
mod doors;
mod embedded;
mod finding;
mod keys;
mod listen;
mod logging;
mod metrics;
mod network;
mod network_genesis;
mod output;
mod parts;
mod process;
mod progress;
mod repeats;
mod runtime;
mod wiring;

use std::path::Path;

pub use command::doctor::examine;
pub use finding::{Finding, Verdict};
pub use output::say_error;

use cli::{ChainCommand, Cli, Command, NodeCommand};
use config::{Config, Given};
use process::Roles;

/// Carries out what the command line asks for.
pub fn run(cli: Cli, given: Given) -> anyhow::Result<()> {
    let config = Config::load(given, Path::new(""))?;
    logging::start(&config.log)?;
    match cli.command.unwrap_or_default() {
        Command::Up(options) => command::up::run(&config, &options),
        Command::Api => command::role::run(&config, Roles::Api),
        Command::Worker => command::role::run(&config, Roles::Worker),
        Command::Gateway => command::role::run(&config, Roles::Gateway),
        Command::Faucet => command::role::run(&config, Roles::Faucet),
        Command::Explorer => command::role::run(&config, Roles::Explorer),
        Command::Node(node) => match node.command {
            None => command::node::run(&config, &node.options),
            Some(NodeCommand::Ctl(ctl)) => command::ctl::run(&config, &ctl),
        },
        Command::Chain(ChainCommand::Export(export)) => command::transfer::export(&config, &export),
        Command::Chain(ChainCommand::Import(import)) => command::transfer::import(&config, &import),
        Command::Genesis(genesis) => command::genesis::run(&config, &genesis),
        Command::Network(action) => command::network::run(&config, &action),
        Command::Config(options) => command::config::run(&config, &options),
        Command::Applications(action) => command::applications::run(&config, &action),
        Command::Registry(action) => command::registry::run(&config, &action),
        Command::Send(options) => command::send::run(&config, &options),
        Command::Validator(action) => command::validator::run(&config, &action),
        Command::Keys(action) => command::keys::run(&config, &action),
        Command::Allowlist(action) => command::allowlist::run(&config, &action),
        Command::Rate(action) => command::rate::run(&config, &action),
        Command::Portal(action) => command::portal::run(&config, &action),
        Command::Partner(action) => command::partner::run(&config, &action),
        Command::Db(action) => command::db::run(&config, &action),
        Command::Doctor(options) => command::doctor::run(&config, &options),
    }
}
