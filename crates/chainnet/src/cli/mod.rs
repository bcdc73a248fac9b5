//! The command line: what can be asked for. The flags of settings come from the configuration's table.

mod access;
mod db;
mod network;
mod portal;
mod registry;

use std::path::PathBuf;

use alloy_primitives::Address;
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use domain::{ApplicationId, ApplicationState};
use serde::{Deserialize, Serialize};

use crate::{
    command::applications::{parse_id, parse_state},
    config::{self, Given},
};

pub use access::{AllowlistCommand, Expiry, Issue, KeyBounds, KeysCommand, PartnerAdd, PartnerCommand};
pub use db::DbCommand;
pub use network::{NetworkCheck, NetworkCommand, NetworkInit};
pub use portal::{PortalCommand, RateCommand, RateSet};
pub use registry::{
    Payer, Register, RegistryCommand, Rewards, SendCoin, SendOptions, SlashChoice, ValidatorCommand, VoteWay,
};

/// An IBFT 2.0 network in one binary.
#[derive(Debug, Parser)]
#[command(version, about, max_term_width = 100)]
pub struct Cli {
    /// What to do; `up` when nothing is given.
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Cli {
    /// Reads the command line of this process: what to do, and what it says about settings.
    pub fn read() -> (Self, Given) {
        let command = config::add_flags(Self::command());
        let matches = command.clone().get_matches();
        match Self::from_arg_matches(&matches) {
            Ok(cli) => (cli, Given::of_process(config::given_flags(&matches))),
            Err(error) => error.with_cmd(&command).exit(),
        }
    }
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start everything the network needs in one process (default).
    Up(NodeOptions),
    /// Serve REST and GraphQL alone, from nodes and a database that a worker fills.
    Api,
    /// Index the chain, follow applications and send mail, from nodes.
    Worker,
    /// Serve JSON-RPC to the world alone, in front of nodes.
    Gateway,
    /// Pay faucet claims alone, over nodes.
    Faucet,
    /// Serve the explorer's and the portal's pages alone, from nodes and a database that a worker fills.
    Explorer,
    /// Run the embedded chain alone, or control a running one.
    Node(Node),
    /// Move a chain between directories and nodes as a file of blocks.
    #[command(subcommand)]
    Chain(ChainCommand),
    /// Print the network's genesis file in Besu's format.
    Genesis(GenesisOptions),
    /// Set up a network of Besu nodes: a folder with genesis, keys and one configuration per node.
    #[command(subcommand)]
    Network(NetworkCommand),
    /// Print the configuration that counts, with the source of every value and without secrets.
    Config(ConfigOptions),
    /// Review applications to the validator program.
    #[command(subcommand)]
    Applications(ApplicationsCommand),
    /// Read and change the registry of validators on chain.
    #[command(subcommand)]
    Registry(RegistryCommand),
    /// Send coin to an account, such as for a stake on a testnet.
    Send(SendCoin),
    /// Vote validators in and out, and see the votes.
    #[command(subcommand)]
    Validator(ValidatorCommand),
    /// Issue, list, revoke and rotate the keys of the gateway, and see what they are used for.
    #[command(subcommand)]
    Keys(KeysCommand),
    /// Decide which wallets the faucet pays where not every wallet may claim.
    #[command(subcommand)]
    Allowlist(AllowlistCommand),
    /// Take a partner in: a key and a wallet for the faucet, in one step.
    #[command(subcommand)]
    Partner(PartnerCommand),
    /// Say what a coin costs in rupiah, and see what it cost.
    #[command(subcommand)]
    Rate(RateCommand),
    /// Look after the developer and merchant portal.
    #[command(subcommand)]
    Portal(PortalCommand),
    /// Move all that the database holds to another one, or copy it while it is in use.
    #[command(subcommand)]
    Db(DbCommand),
    /// Check configuration, ports, chain, contracts, clock, keys, database and index, and say what to do.
    Doctor(DoctorOptions),
}

impl Default for Command {
    fn default() -> Self {
        Self::Up(NodeOptions::default())
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
    /// Seal blocks only when `evm_mine` asks for one.
    #[arg(long)]
    pub on_demand: bool,
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
        subject: Address,
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
}

/// `chainnet chain import`.
#[derive(Debug, Args)]
pub struct Import {
    /// File to read.
    pub file: PathBuf,
}

/// `chainnet genesis`.
#[derive(Debug, Args)]
pub struct GenesisOptions {
    /// Newest fork of the chain.
    #[arg(long, value_enum, default_value_t)]
    pub fork: ForkChoice,
}

/// Newest fork of a chain.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForkChoice {
    /// London.
    London,
    /// Shanghai.
    #[default]
    Shanghai,
    /// Cancun.
    Cancun,
}

/// `chainnet config`.
#[derive(Debug, Args)]
pub struct ConfigOptions {
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
    /// Print the documented defaults as a file to start from, instead.
    #[arg(long, conflicts_with = "json")]
    pub defaults: bool,
}

/// `chainnet doctor`.
#[derive(Debug, Args)]
pub struct DoctorOptions {
    /// Print one JSON array.
    #[arg(long)]
    pub json: bool,
}

/// `chainnet applications …`.
#[derive(Debug, Subcommand)]
pub enum ApplicationsCommand {
    /// List applications, newest first.
    List {
        /// Only those in this state.
        #[arg(long, value_parser = parse_state)]
        state: Option<ApplicationState>,
        /// Only those older than this one: the last of the list before.
        #[arg(long, value_name = "ID", value_parser = parse_id)]
        before: Option<ApplicationId>,
        /// At most so many.
        #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=100))]
        limit: u32,
        /// Print one JSON array.
        #[arg(long)]
        json: bool,
    },
    /// Show everything about one application, the e-mail address included.
    Show {
        /// The application.
        #[arg(value_parser = parse_id)]
        id: ApplicationId,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Begin the technical review.
    Review(Review),
    /// Accept: the operator may stake.
    Approve(Review),
    /// Turn down.
    Reject(Review),
}

/// A reviewer's decision.
#[derive(Debug, Args)]
pub struct Review {
    /// The application.
    #[arg(value_parser = parse_id)]
    pub id: ApplicationId,
    /// Who decides, for the history.
    #[arg(long, value_name = "NAME")]
    pub by: String,
    /// Why, for the history; the applicant reads it.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}
