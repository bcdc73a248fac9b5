//! CPU of the server per read, at a fixed number of connections.

use std::{sync::Arc, time::Duration};

use alloy_primitives::{Address, hex};
use anyhow::Result;

use crate::{
    http::request,
    load::{self, Until},
    peer::Running,
    progress,
};

/// Selector of the counter's `value()`.
pub(crate) const VALUE: [u8; 4] = hex!("3fa4f245");

/// CPU per request, in microseconds, and requests per second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ReadCost {
    pub(crate) cpu_micros: f64,
    pub(crate) per_second: f64,
}

pub(crate) async fn block_number(node: &Running, time: Duration) -> Result<ReadCost> {
    measure(node, "eth_blockNumber", "[]", time).await
}

pub(crate) async fn call(node: &Running, contract: Address, time: Duration) -> Result<ReadCost> {
    let params = format!(r#"[{{"to":"{contract}","data":"{}"}},"latest"]"#, hex::encode_prefixed(VALUE));
    measure(node, "eth_call", &params, time).await
}

pub(crate) async fn full_block(node: &Running, number: u64, time: Duration) -> Result<ReadCost> {
    measure(node, "eth_getBlockByNumber", &format!(r#"["{number:#x}",true]"#), time).await
}

async fn measure(node: &Running, method: &str, params: &str, time: Duration) -> Result<ReadCost> {
    let requests = Arc::new(vec![request(method, params)]);
    let bar = progress::spinner(format!("{method}, {} s", time.as_secs()));
    // Connections, caches and branch predictors settle before the clock starts.
    load::send(node.server(), &requests, Until::Elapsed(time / 10), &bar).await?;
    let cost = load::send(node.server(), &requests, Until::Elapsed(time), &bar).await?;
    bar.finish_and_clear();
    Ok(ReadCost { cpu_micros: cost.cpu_micros(), per_second: cost.per_second() })
}
