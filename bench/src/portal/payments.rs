//! Many invoices paid in one block: how long until the webhook of each is out.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use testkit::{Receiver, RpcClient, Wallet};

use super::{MINING, Stage, row};
use crate::{
    progress,
    table::{Row, Target, Unit},
};

/// Rupiah of an invoice.
const AMOUNT_IDR: u64 = 10_000;
/// Events of a payment: the payment, and the invoice.
const EVENTS: usize = 2;
/// Milliseconds from the block within which 99 of 100 deliveries must be out.
const SOON: f64 = 250.0;
/// Pause between two looks for a new block.
const LOOK: Duration = Duration::from_millis(2);

pub(super) async fn measure(stage: &Stage, payments: usize) -> Result<Vec<Row>> {
    let node = stage.app.node().context("the product runs without its node")?;
    let mut merchant = stage.merchant(1).await?;
    let receiver = Receiver::start().await?;
    merchant.buy_key(MINING).await?;
    merchant.save_webhook(&receiver.url(), MINING).await?;
    let bar = progress::spinner(format!("{payments} invoices and quotes"));
    let (mut customer, mut transactions) = (Wallet::dev(2), Vec::with_capacity(payments));
    for index in 0..payments {
        let invoice = merchant.create_invoice(&format!("customer {index}"), AMOUNT_IDR).await?;
        transactions.push(merchant.quote(&invoice).await?.sign(&mut customer));
    }
    bar.set_message("paying all of them");
    // Right after a block there is time to hand in all of them before the next.
    let start = next_block(&node, node.block_number().await?).await?.0;
    for raw in &transactions {
        node.send_raw(raw).await?;
    }
    let mut seen = HashMap::new();
    let mut last = start;
    while receiver.count() < payments * EVENTS {
        if let Ok(found) = tokio::time::timeout(LOOK * 10, next_block(&node, last)).await {
            let (number, at) = found?;
            seen.extend((last + 1..=number).map(|number| (number, at)));
            last = number;
        }
    }
    bar.finish_and_clear();
    let mut delays = delays(&receiver, &seen)?;
    delays.sort_by(f64::total_cmp);
    let at = |part: f64| delays.get((delays.len() as f64 * part) as usize).copied().unwrap_or(f64::NAN);
    let blocks = seen.len();
    ensure!(!delays.is_empty(), "nothing was delivered in {blocks} blocks");
    let of = format!("{payments} payments at once");
    Ok(vec![
        row(format!("{of}, block to webhook, median"), Unit::Millis, at(0.5), Target::None),
        row(format!("{of}, block to webhook, p99"), Unit::Millis, at(0.99), Target::AtMost(SOON)),
    ])
}

/// The next block after one, and when the node first showed it.
async fn next_block(node: &RpcClient, after: u64) -> Result<(u64, Instant)> {
    loop {
        let number = node.block_number().await?;
        if number > after {
            return Ok((number, Instant::now()));
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Milliseconds from a payment's block to the arrival of each of its events.
fn delays(receiver: &Receiver, seen: &HashMap<u64, Instant>) -> Result<Vec<f64>> {
    let mut delays = Vec::new();
    for received in receiver.received() {
        let event: Value = serde_json::from_slice(&received.body)?;
        let block = event.pointer("/data/payment/blockNumber").and_then(Value::as_u64);
        let block = block.context("an event without its block")?;
        if let Some(at) = seen.get(&block) {
            delays.push(received.at.saturating_duration_since(*at).as_secs_f64() * 1e3);
        }
    }
    Ok(delays)
}
