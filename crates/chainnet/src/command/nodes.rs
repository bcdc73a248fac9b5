//! The nodes that a command asks: the configured ones, or the one on this machine.

use alloy_primitives::Bytes;
use anyhow::{Context, anyhow, bail};
use chain::{
    Cached, ChainClient, Lane, RawAnswer, RawCall, RawUpstream,
    remote::{NodeUrl, RemoteClient},
};
use serde::Deserialize;
use serde_json::Value;

use crate::{chain_source, config::Config};

/// A node's refusal.
#[derive(Debug, Deserialize)]
pub(crate) struct Refusal {
    pub(crate) code: i64,
    #[serde(default)]
    pub(crate) message: String,
    /// Revert data, as text.
    #[serde(default)]
    data: Option<Value>,
}

impl Refusal {
    /// What a contract returned when it reverted.
    pub(crate) fn revert_data(&self) -> Option<Bytes> {
        self.data.as_ref()?.as_str()?.parse().ok()
    }
}

/// The configured nodes, or the embedded node of this machine.
pub(crate) fn urls(config: &Config) -> anyhow::Result<Vec<NodeUrl>> {
    if !config.nodes.is_empty() {
        return Ok(config.nodes.clone());
    }
    let local = format!("http://127.0.0.1:{}", config.node.rpc.port());
    Ok(vec![local.parse().context("the embedded node has no usable address")?])
}

/// A client of all of them together.
pub(crate) async fn connect(config: &Config) -> anyhow::Result<Cached<RemoteClient>> {
    connect_to(config, &urls(config)?).await
}

/// A client of some of them.
pub(crate) async fn connect_to(config: &Config, urls: &[NodeUrl]) -> anyhow::Result<Cached<RemoteClient>> {
    let client = chain_source::connect(config, urls).await?;
    if client.heads().borrow().is_none() {
        let names: Vec<String> = urls.iter().map(ToString::to_string).collect();
        bail!(
            "no node answers at {}; start one, or name it with --rpc-url or PLATFORM_RPC_URL",
            names.join(", ")
        );
    }
    Ok(client)
}

/// Asks a node; the inner failure is its own refusal.
pub(crate) async fn ask(
    upstream: &dyn RawUpstream,
    method: &'static str,
    params: &Value,
) -> anyhow::Result<Result<Value, Refusal>> {
    let call = RawCall { method, params: params.to_string().into(), lane: Lane::Cheap, at: 0 };
    let answer = upstream.call(call).await.with_context(|| format!("the node did not answer to {method}"))?;
    let unreadable = |_| anyhow!("the node's answer to {method} is not understood");
    match answer {
        RawAnswer::Result(json) => Ok(Ok(serde_json::from_slice(&json).map_err(unreadable)?)),
        RawAnswer::Error(json) => Ok(Err(serde_json::from_slice(&json).map_err(unreadable)?)),
    }
}
