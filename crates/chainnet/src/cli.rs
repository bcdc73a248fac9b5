//! The command line. Every option is also an environment variable; the option wins.

use std::{net::IpAddr, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};
use domain::Network;

/// An IBFT 2.0 network in one binary.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
pub struct Cli {
    /// Which network, and where its data is.
    #[command(flatten)]
    pub place: Place,
    /// How log lines look.
    #[arg(long, env = "LOG_FORMAT", value_enum, default_value_t, global = true)]
    pub log_format: LogFormat,
    /// What to do; `up` when nothing is given.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Which network, and where its data is.
#[derive(Debug, Clone, Args)]
pub struct Place {
    /// Network: devnet, testnet or mainnet.
    #[arg(long, env = "PLATFORM_NETWORK", default_value = "devnet", global = true)]
    pub network: Network,
    /// Data directory [default: ./data/ and the network's name].
    #[arg(long, env = "CHAINNET_DATA", global = true)]
    pub data: Option<PathBuf>,
}

impl Place {
    /// The network's data directory.
    pub fn data_dir(&self) -> PathBuf {
        self.data.clone().unwrap_or_else(|| PathBuf::from("data").join(self.network.name()))
    }

    /// The embedded chain's part of the data directory.
    pub fn chain_dir(&self) -> PathBuf {
        self.data_dir().join("chain")
    }
}

/// How log lines look.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start everything the network needs in one process (default).
    Up(NodeOptions),
    /// Run the embedded chain alone, or control a running one.
    Node(Node),
    /// Move a chain between directories and nodes as a file of blocks.
    #[command(subcommand)]
    Chain(ChainCommand),
    /// Print the network's genesis file in Besu's format.
    Genesis(GenesisOptions),
}

impl Default for Command {
    fn default() -> Self {
        // Parsed, not built, so that the environment applies to `chainnet` as it does to `chainnet up`.
        let cli = Cli::parse_from(["chainnet", "up"]);
        cli.command.unwrap_or(Self::Up(NodeOptions::default()))
    }
}

/// `chainnet node`.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Node {
    /// How to run it.
    #[command(flatten)]
    pub options: NodeOptions,
    /// Control a running node instead.
    #[command(subcommand)]
    pub command: Option<NodeCommand>,
}

/// How the embedded chain runs.
#[derive(Debug, Clone, Args, Default)]
pub struct NodeOptions {
    /// Address the JSON-RPC server listens on [default: 127.0.0.1].
    #[arg(long, env = "NODE_RPC_HOST")]
    pub rpc_host: Option<IpAddr>,
    /// Port of the JSON-RPC server, HTTP and WebSocket; 0 picks a free one [default: 8545, testnet 8565].
    #[arg(long, env = "NODE_RPC_PORT")]
    pub rpc_port: Option<u16>,
    /// Seal blocks only when `evm_mine` asks for one.
    #[arg(long)]
    pub on_demand: bool,
    /// Genesis file to start from instead of the network's own.
    #[arg(long, env = "NODE_GENESIS")]
    pub genesis: Option<PathBuf>,
}

/// `chainnet node …`.
#[derive(Debug, Subcommand)]
pub enum NodeCommand {
    /// Stop, start or list single validators of a running node, or have them vote.
    Ctl(Ctl),
}

/// `chainnet node ctl …`.
#[derive(Debug, Args)]
pub struct Ctl {
    /// Port of the running node [default: the network's].
    #[arg(long, env = "NODE_RPC_PORT", global = true)]
    pub rpc_port: Option<u16>,
    /// What to do.
    #[command(subcommand)]
    pub action: CtlAction,
}

/// What a running node is asked.
#[derive(Debug, Subcommand)]
pub enum CtlAction {
    /// List the node's validators.
    Status,
    /// Stop a validator, as if its process was killed.
    Stop {
        /// V1, V2, … or an address.
        validator: String,
    },
    /// Start a stopped validator.
    Start {
        /// V1, V2, … or an address.
        validator: String,
    },
    /// Have a validator vote in the blocks it proposes.
    Vote {
        /// Who votes: V1, V2, … or an address.
        validator: String,
        /// Whom the vote is about.
        subject: alloy_primitives::Address,
        /// What the vote wants.
        #[arg(value_enum)]
        choice: VoteChoice,
    },
}

/// What a vote wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VoteChoice {
    /// Add the subject to the validator set.
    Add,
    /// Drop it from the set.
    Drop,
    /// Forget an earlier vote.
    Discard,
}

/// `chainnet chain …`.
#[derive(Debug, Subcommand)]
pub enum ChainCommand {
    /// Write blocks to a file that `chain import` and `besu blocks import` read.
    Export(Export),
    /// Add the blocks of a file, each fully validated.
    Import(Import),
}

/// `chainnet chain export`.
#[derive(Debug, Args)]
pub struct Export {
    /// File to write; `-` for standard output.
    #[arg(long)]
    pub to: PathBuf,
    /// First block.
    #[arg(long, default_value_t = 0)]
    pub from: u64,
    /// Block to stop before [default: after the head].
    #[arg(long)]
    pub end: Option<u64>,
    /// Genesis file of the chain, if not the network's own.
    #[arg(long, env = "NODE_GENESIS")]
    pub genesis: Option<PathBuf>,
}

/// `chainnet chain import`.
#[derive(Debug, Args)]
pub struct Import {
    /// File to read.
    pub file: PathBuf,
    /// Genesis file of the chain, if not the network's own.
    #[arg(long, env = "NODE_GENESIS")]
    pub genesis: Option<PathBuf>,
}

/// `chainnet genesis`.
#[derive(Debug, Args)]
pub struct GenesisOptions {
    /// Newest fork of the chain.
    #[arg(long, value_enum, default_value_t)]
    pub fork: ForkChoice,
}

/// Newest fork of a chain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum ForkChoice {
    /// London.
    London,
    /// Shanghai.
    #[default]
    Shanghai,
}
