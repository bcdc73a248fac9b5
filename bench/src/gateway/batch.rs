//! A batch of a hundred calls: through the gateway, and straight to a node that runs it one call after the other.

use std::{path::Path, time::Instant};

use anyhow::Result;

use super::{front::Front, serial, stage::Stage};
use crate::{
    http::{Connection, call, post},
    table::{self, Row, Target, Unit},
};

const CALLS: usize = 100;
/// Batches on each side.
const BATCHES: usize = 15;

/// Times of a batch on both sides.
pub(super) async fn measure(binary: &Path, stage: &Stage) -> Result<Vec<Row>> {
    let node = serial::start(stage.node.address()).await?;
    let front = Front::start(binary, node.address()).await?;
    let mut ours = Connection::open(front.server().address).await?;
    let mut direct = Connection::open(node.address()).await?;
    let (mut of_ours, mut of_node) = (Vec::new(), Vec::new());
    for batch in 0..BATCHES {
        let calls = batch_of(stage, batch);
        of_ours.push(millis(&mut ours, &front.post(&calls)).await?);
        of_node.push(millis(&mut direct, &post("/", &[], &calls)).await?);
    }
    Ok(vec![Row {
        metric: format!("time of a batch of {CALLS} eth_call"),
        unit: Unit::Millis,
        ours: table::median(of_ours),
        peer: table::median(of_node),
        target: Target::AtMostTimes(0.125),
    }])
}

/// Calls that nobody has made before, so that no cache knows them.
fn batch_of(stage: &Stage, batch: usize) -> String {
    let calls: Vec<String> = (0..CALLS)
        .map(|index| call("eth_call", &stage.call_params_with(&format!("{:08x}", batch * CALLS + index))))
        .collect();
    format!("[{}]", calls.join(","))
}

async fn millis(connection: &mut Connection, request: &[u8]) -> Result<f64> {
    let asked = Instant::now();
    connection.exchange_ok(request).await?;
    Ok(asked.elapsed().as_secs_f64() * 1e3)
}
