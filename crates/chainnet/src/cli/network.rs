//! The commands that set up a network of Besu nodes.

use std::{net::IpAddr, path::PathBuf};

use clap::{Args, Subcommand};
use domain::Wei;

use super::ForkChoice;

/// `chainnet network …`.
#[derive(Debug, Subcommand)]
pub enum NetworkCommand {
    /// Write a new network for Besu 24.x into a folder, ready to run.
    Init(NetworkInit),
    /// Check such a folder: keys, genesis, contracts, configuration, ports.
    Check(NetworkCheck),
}

/// `chainnet network init`.
#[derive(Debug, Args)]
pub struct NetworkInit {
    /// How many validators the network starts with, 1 to 21.
    #[arg(long, value_name = "NUMBER", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=21))]
    pub validators: u16,
    /// Folder to write; it must not exist yet, or be empty.
    #[arg(long, value_name = "FOLDER")]
    pub out: PathBuf,
    /// Newest fork of the chain.
    #[arg(long, value_enum, default_value_t)]
    pub fork: ForkChoice,
    /// Where the nodes run: one address for all of them, or one for each, separated by commas [default: 127.0.0.1].
    #[arg(long, value_name = "ADDRESSES", value_delimiter = ',')]
    pub hosts: Vec<IpAddr>,
    /// Added to every port, so that a second network finds room on the same machine, such as 100.
    #[arg(long, value_name = "NUMBER", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=30_000))]
    pub port_offset: u16,
    /// Coin that exists at genesis beside the stakes: the faucet's, on mainnet the treasury's.
    #[arg(long, value_name = "COIN", default_value = "100000000")]
    pub supply: Wei,
}

/// `chainnet network check`.
#[derive(Debug, Args)]
pub struct NetworkCheck {
    /// Folder that `network init` has written.
    pub folder: PathBuf,
    /// The nodes are running: do not ask for their ports to be free.
    #[arg(long)]
    pub running: bool,
    /// Print one JSON array.
    #[arg(long)]
    pub json: bool,
}
