//! `bench portal`: what merchants wait for. Lists of invoices among a thousand and among a million, payments until their
//! webhooks are out, and how fast a long queue of deliveries drains.
//!
//! The product is the real binary with its SQLite file. Invoices and deliveries that nobody would make by hand are written
//! into that file directly; everything that is measured goes over HTTP.

mod drain;
mod lists;
mod payments;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use store::Db;
use tempfile::TempDir;
use testkit::{AppProcess, Merchant, Mining, Wallet};

use crate::{
    machine, peer,
    table::{self, Row, Target, Unit},
};

/// A minute's limit that no load reaches, and customers from all over the world.
const ARGUMENTS: [&str; 4] = ["--rate-limit-max", "4000000000", "--trusted-proxies", "127.0.0.0/8"];

/// `bench portal`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Most invoices of the merchant whose list is read.
    #[arg(long, default_value_t = 1_000_000)]
    invoices: u64,
    /// Payments in one block.
    #[arg(long, default_value_t = 200)]
    payments: usize,
    /// Deliveries that wait.
    #[arg(long, default_value_t = 10_000)]
    deliveries: u64,
    /// Seconds of load per figure.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Binary to measure instead of the one that cargo builds.
    #[arg(long)]
    chainnet: Option<PathBuf>,
}

/// The product and the file that it keeps everything in.
struct Stage {
    app: AppProcess,
    data: TempDir,
}

impl Stage {
    async fn open(binary: &Path) -> Result<Self> {
        let data = TempDir::new()?;
        let app = AppProcess::up(binary, data.path(), ARGUMENTS).await?;
        app.api().wait_for("/ready", |answer| answer.status.is_success()).await?;
        Ok(Self { app, data })
    }

    /// A development account, signed in.
    async fn merchant(&self, account: usize) -> Result<Merchant> {
        let node = self.app.node().context("the product runs without its node")?;
        Ok(Merchant::sign_in(self.app.api(), node, Wallet::dev(account)).await?)
    }

    /// The product's database, to be opened beside it.
    async fn database(&self) -> Result<Db> {
        let file = self.data.path().join("chainnet.db");
        Ok(Db::open(&format!("sqlite:{}", file.display())).await?)
    }
}

/// Blocks come by themselves.
const MINING: Mining = Mining::Interval;

pub(crate) async fn run(options: Options) -> Result<()> {
    let binary = peer::our_binary(options.chainnet.clone()).await?;
    let mut rows = lists::measure(&Stage::open(&binary).await?, &options).await?;
    rows.extend(payments::measure(&Stage::open(&binary).await?, options.payments).await?);
    rows.extend(drain::measure(Stage::open(&binary).await?, options.deliveries).await?);
    println!("{}\n", machine::description());
    table::print(&rows, "–");
    Ok(())
}

fn row(metric: impl Into<String>, unit: Unit, ours: f64, target: Target) -> Row {
    Row { metric: metric.into(), unit, ours: Some(ours), peer: None, target }
}
