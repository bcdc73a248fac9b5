//! Answers from memory, without a node.

use bytes::Bytes;

use crate::{config::GatewayConfig, head::Served, method::Local, refusal::Refusal};

/// What does not change as long as the process runs, as JSON.
pub(crate) struct LocalAnswers {
    chain_id: Bytes,
    net_version: Bytes,
    version: Bytes,
}

impl LocalAnswers {
    pub(crate) fn new(config: &GatewayConfig) -> Self {
        let version = serde_json::Value::from(config.client_version.as_str()).to_string();
        Self {
            chain_id: format!("\"{:#x}\"", config.chain_id).into(),
            net_version: format!("\"{}\"", config.chain_id).into(),
            version: version.into(),
        }
    }

    /// The answer; only the block number needs a head.
    pub(crate) fn answer(&self, local: Local, head: Option<&Served>) -> Result<Bytes, Refusal> {
        Ok(match local {
            Local::Accounts => Bytes::from_static(b"[]"),
            Local::BlockNumber => head.ok_or(NO_HEAD)?.quoted.clone(),
            Local::ChainId => self.chain_id.clone(),
            Local::Listening => Bytes::from_static(b"true"),
            Local::NetVersion => self.net_version.clone(),
            Local::Syncing => Bytes::from_static(b"false"),
            Local::Version => self.version.clone(),
        })
    }
}

/// No node has told a head yet.
pub(crate) const NO_HEAD: Refusal = Refusal::Unavailable { reason: "no_head" };
