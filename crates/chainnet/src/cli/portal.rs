//! The commands of the portal's operator: the coin's rate, wallets, deliveries, the books.

use alloy_primitives::Address;
use clap::{Args, Subcommand};
use domain::portal::{DeliveryId, Rate};

use super::access::parse_wallet;

/// `chainnet rate …`.
#[derive(Debug, Subcommand)]
pub enum RateCommand {
    /// Say what a coin costs from now on. Quotes that are out keep their price.
    Set(RateSet),
    /// Show what a coin costs.
    Show {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// List the rates, newest first.
    History {
        /// How many.
        #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=1000))]
        limit: u32,
        /// Print one JSON array.
        #[arg(long)]
        json: bool,
    },
}

/// `chainnet rate set`.
#[derive(Debug, Args)]
pub struct RateSet {
    /// Rupiah for one coin, with at most eight decimals: 1000, 1234.5.
    pub rupiah: Rate,
    /// Who says so.
    #[arg(long, value_name = "NAME", default_value = "operator")]
    pub by: String,
    /// Why.
    #[arg(long, value_name = "TEXT")]
    pub note: Option<String>,
    /// Take a rate that is more than 10 % away from the last one.
    #[arg(long)]
    pub allow_jump: bool,
}

/// `chainnet portal …`.
#[derive(Debug, Subcommand)]
pub enum PortalCommand {
    /// Show what the portal knows of a wallet: keys, orders, payments, webhook, audit log.
    Wallet {
        /// The wallet.
        #[arg(value_parser = parse_wallet)]
        wallet: Address,
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
    /// Send an event once more, to the same wallet's webhook and to the byte.
    Redeliver {
        /// Whose it is.
        #[arg(value_parser = parse_wallet)]
        wallet: Address,
        /// The delivery to repeat.
        delivery: DeliveryId,
    },
    /// Compare the chain with the database, both ways.
    Reconcile {
        /// Print one JSON object.
        #[arg(long)]
        json: bool,
    },
}
