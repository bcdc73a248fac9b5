//! Something that happened on the chain, rendered at most once per form, on first demand.

use std::sync::{Arc, OnceLock};

use alloy_rpc_types_eth::{Filter, Log as LogView};
use bytes::Bytes;
use serde::Serialize;

use crate::{
    block::{Block, Receipt, Transaction},
    rpc::wire,
};

/// A new block.
pub(crate) struct HeadEvent {
    block: Arc<Block>,
    receipts: Arc<Vec<Receipt>>,
    header: OnceLock<Bytes>,
    full: OnceLock<Bytes>,
    logs: OnceLock<Vec<(LogView, Bytes)>>,
}

impl HeadEvent {
    pub(crate) fn new(block: Arc<Block>, receipts: Arc<Vec<Receipt>>) -> Self {
        Self { block, receipts, header: OnceLock::new(), full: OnceLock::new(), logs: OnceLock::new() }
    }

    /// The header's JSON.
    pub(super) fn header(&self) -> &Bytes {
        self.header.get_or_init(|| render(&wire::header_view(&self.block)))
    }

    /// The JSON of the block with its transactions.
    pub(super) fn full(&self) -> &Bytes {
        self.full.get_or_init(|| wire::render_block(&self.block, true).unwrap_or_else(unrenderable))
    }

    /// The JSON of the logs that match.
    pub(super) fn logs<'a>(&'a self, filter: &'a Filter) -> impl Iterator<Item = &'a Bytes> {
        let bloom = filter.matches_bloom(self.block.header.logs_bloom);
        let logs = bloom.then(|| {
            self.logs.get_or_init(|| {
                let views = wire::block_logs(&self.block, &self.receipts);
                views.map(|log| (log.clone(), render(&log))).collect()
            })
        });
        let logs = logs.into_iter().flatten();
        logs.filter(|(log, _)| filter.matches(&log.inner)).map(|(_, json)| json)
    }
}

/// A transaction that entered the pool.
pub(crate) struct PendingEvent {
    transaction: Arc<Transaction>,
    hash: OnceLock<Bytes>,
    full: OnceLock<Bytes>,
}

impl PendingEvent {
    pub(crate) fn new(transaction: Arc<Transaction>) -> Self {
        Self { transaction, hash: OnceLock::new(), full: OnceLock::new() }
    }

    /// The hash's JSON.
    pub(super) fn hash(&self) -> &Bytes {
        self.hash.get_or_init(|| render(self.transaction.tx_hash()))
    }

    /// The transaction's JSON.
    pub(super) fn full(&self) -> &Bytes {
        self.full.get_or_init(|| render(&wire::pending_transaction(&self.transaction)))
    }
}

fn render<T: Serialize>(value: &T) -> Bytes {
    serde_json::to_vec(value).map_or_else(unrenderable, Bytes::from)
}

/// Wire types always render; should one ever not, subscribers see null and the operator the reason.
fn unrenderable(error: serde_json::Error) -> Bytes {
    tracing::error!(%error, "could not render an event");
    Bytes::from_static(b"null")
}
