//! The commands about validators on chain: the registry, and votes about the validator set.

use alloy_primitives::Address;
use clap::{Args, Subcommand, ValueEnum};
use domain::Wei;

use super::access::parse_wallet;

/// `chainnet registry …`.
#[derive(Debug, Subcommand)]
pub enum RegistryCommand {
    /// Show where the program stands: phase, slots, stake, everybody who registered.
    Status {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Show everything the registry has of an operator.
    Show {
        /// The operator.
        #[arg(value_parser = parse_wallet)]
        operator: Address,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Let an operator register while registration is closed (admin).
    Approve {
        /// The operator.
        #[arg(value_parser = parse_wallet)]
        operator: Address,
        /// Take the approval back instead.
        #[arg(long)]
        revoke: bool,
        /// How it is sent.
        #[command(flatten)]
        how: SendOptions,
    },
    /// Set rewards aside for an operator; the coin is sent along (admin).
    Distribute {
        /// The operator.
        #[arg(value_parser = parse_wallet)]
        operator: Address,
        /// How much, in coin: 12.5.
        amount: Wei,
        /// How it is sent.
        #[command(flatten)]
        how: SendOptions,
    },
    /// Divide a pool of coin among the operators for a range of blocks, by blocks built and uptime, and pay it out once (admin).
    Rewards(Rewards),
    /// Take part of an operator's stake and jail it for 7 days; the third slash removes it (slasher).
    Slash {
        /// The operator.
        #[arg(value_parser = parse_wallet)]
        operator: Address,
        /// What for.
        #[arg(value_enum)]
        reason: SlashChoice,
        /// Also if it is in jail already, which it is when it was slashed a moment ago.
        #[arg(long)]
        again: bool,
        /// How it is sent.
        #[command(flatten)]
        how: SendOptions,
    },
    /// Let an operator out of jail when its time is over (anybody).
    Unjail {
        /// The operator.
        #[arg(value_parser = parse_wallet)]
        operator: Address,
        /// How it is sent.
        #[command(flatten)]
        how: SendOptions,
    },
    /// Set the number of slots (admin).
    SetMax {
        /// 1 to 21.
        #[arg(value_parser = clap::value_parser!(u64).range(1..=21))]
        slots: u64,
        /// How it is sent.
        #[command(flatten)]
        how: SendOptions,
    },
    /// Enter a phase: 5, 11 or 21 slots, and registration is opened (admin).
    Expand {
        /// 1, 2 or 3.
        #[arg(value_parser = clap::value_parser!(u8).range(1..=3))]
        phase: u8,
        /// How it is sent.
        #[command(flatten)]
        how: SendOptions,
    },
    /// Open or close registration without approval (admin).
    OpenRegistration {
        /// true or false.
        #[arg(action = clap::ArgAction::Set)]
        open: bool,
        /// How it is sent.
        #[command(flatten)]
        how: SendOptions,
    },
    /// Remove an operator that was slashed or has left (admin).
    Remove {
        /// The operator.
        #[arg(value_parser = parse_wallet)]
        operator: Address,
        /// Why; it is logged on chain.
        reason: String,
        /// How it is sent.
        #[command(flatten)]
        how: SendOptions,
    },
    /// Send the penalties to the treasury (anybody).
    WithdrawPenalties {
        /// How it is sent.
        #[command(flatten)]
        how: SendOptions,
    },
    /// Join the set with the key's account as operator; the stake is sent along.
    Register(Register),
    /// Name the address that the operator's node seals with.
    SetConsensusAddress {
        /// The node's address.
        #[arg(value_parser = parse_wallet)]
        node: Address,
        /// How it is sent.
        #[command(flatten)]
        how: SendOptions,
    },
    /// Pay the operator's rewards out.
    Claim {
        /// How it is sent.
        #[command(flatten)]
        how: SendOptions,
    },
    /// Leave the set; the stake can be withdrawn 7 days later.
    Exit {
        /// How it is sent.
        #[command(flatten)]
        how: SendOptions,
    },
    /// Pay the operator's stake back.
    Withdraw {
        /// How it is sent.
        #[command(flatten)]
        how: SendOptions,
    },
}

/// `chainnet registry rewards`.
#[derive(Debug, Args)]
pub struct Rewards {
    /// First block of the range.
    #[arg(long, value_name = "BLOCK")]
    pub from: u64,
    /// Last block of the range.
    #[arg(long, value_name = "BLOCK")]
    pub to: u64,
    /// What is divided, in coin.
    #[arg(long, value_name = "COIN")]
    pub pool: Wei,
    /// Send it. Without this, what would be sent is shown.
    #[arg(long, conflicts_with = "dry_run")]
    pub yes: bool,
    /// Show what would be sent; the same as without --yes.
    #[arg(long)]
    pub dry_run: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// `chainnet send`.
#[derive(Debug, Args)]
pub struct SendCoin {
    /// Who gets it.
    #[arg(value_parser = parse_wallet)]
    pub to: Address,
    /// How much, in coin: 100000.
    pub amount: Wei,
    /// Whose coin it is.
    #[arg(long, value_enum, default_value_t)]
    pub from: Payer,
    /// Show what will happen, and send nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Send coin of the mainnet, which has a price.
    #[arg(long)]
    pub mainnet: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// Whose coin is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Payer {
    /// REGISTRY_KEY's account, or the network's administrator's.
    #[default]
    Admin,
    /// The faucet's, which has the coin of a testnet.
    Faucet,
}

/// `chainnet registry register`.
#[derive(Debug, Args)]
pub struct Register {
    /// Display name, 3 to 40 characters.
    pub moniker: String,
    /// Web address.
    #[arg(long, default_value = "")]
    pub website: String,
    /// Stake in coin.
    #[arg(long, default_value = "100000")]
    pub stake: Wei,
    /// Commission in basis points: 500 is 5%.
    #[arg(long, value_name = "BPS", default_value_t = 500, value_parser = clap::value_parser!(u16).range(0..=2000))]
    pub commission: u16,
    /// How it is sent.
    #[command(flatten)]
    pub how: SendOptions,
}

/// How a change of the registry is made.
#[derive(Debug, Clone, Copy, Args)]
pub struct SendOptions {
    /// Show what will happen, and send nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// Print the transaction for the treasury's Safe instead of sending one.
    #[arg(long)]
    pub safe: bool,
    /// Print one JSON object.
    #[arg(long)]
    pub json: bool,
}

/// What a slash is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SlashChoice {
    /// The node was down: 1% of the stake.
    Downtime,
    /// The node signed two blocks of one height and round: 5% of the stake.
    DoubleSign,
}

/// `chainnet validator …`.
#[derive(Debug, Subcommand)]
pub enum ValidatorCommand {
    /// Have the validators of the configured nodes vote on an address.
    Vote {
        /// The node to be added or dropped.
        #[arg(value_parser = parse_wallet)]
        address: Address,
        /// Which way.
        #[command(flatten)]
        way: VoteWay,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Have them forget their votes on an address.
    Discard {
        /// The node.
        #[arg(value_parser = parse_wallet)]
        address: Address,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Show the validator set, the votes in blocks and what each node will vote.
    #[command(visible_alias = "status")]
    Votes {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}

/// Which way a vote goes.
#[derive(Debug, Clone, Copy, Args)]
#[group(required = true, multiple = false)]
pub struct VoteWay {
    /// Take the node into the validator set.
    #[arg(long)]
    pub add: bool,
    /// Drop it from the set.
    #[arg(long)]
    pub drop: bool,
}
