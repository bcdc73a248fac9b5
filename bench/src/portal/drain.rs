//! A long queue of deliveries to a fast receiver, and as many to one that takes connections and never answers.

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use store::testing::seed_deliveries;
use testkit::Receiver;
use tokio::net::TcpListener;

use super::{MINING, Stage, row};
use crate::{
    progress,
    table::{Row, Target, Unit},
};

/// Deliveries per second.
const FAST: f64 = 1_000.0;
/// How long the whole queue may take.
const PATIENCE: Duration = Duration::from_secs(120);

pub(super) async fn measure(mut stage: Stage, deliveries: u64) -> Result<Vec<Row>> {
    let receiver = Receiver::start().await?;
    // The kernel takes its connections; nobody ever reads them.
    let dead = TcpListener::bind("127.0.0.1:0").await?;
    let (mut merchant, mut unlucky) = (stage.merchant(1).await?, stage.merchant(2).await?);
    merchant.save_webhook(&receiver.url(), MINING).await?;
    unlucky.save_webhook(&format!("http://{}/hook", dead.local_addr()?), MINING).await?;
    stage.app.stop().await?;
    let bar = progress::spinner(format!("{deliveries} deliveries"));
    let db = stage.database().await?;
    seed_deliveries(&db, unlucky.wallet.address(), deliveries).await?;
    seed_deliveries(&db, merchant.wallet.address(), deliveries).await?;
    db.close().await;
    let before = receiver.count();
    stage.app.restart().await?;
    receiver.wait_for(before + 1).await;
    let started = Instant::now();
    let all = before + usize::try_from(deliveries)?;
    tokio::time::timeout(PATIENCE, receiver.wait_for(all)).await.context("the queue does not drain")?;
    let seconds = started.elapsed().as_secs_f64();
    bar.finish_and_clear();
    let speed = deliveries as f64 / seconds;
    let metric = format!("{deliveries} deliveries beside a dead endpoint, per second");
    Ok(vec![row(metric, Unit::PerSecond, speed, Target::AtLeast(FAST))])
}
