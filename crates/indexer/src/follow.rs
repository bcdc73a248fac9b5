//! Keeping the index at the head of the chain.

use std::{pin::pin, sync::Arc};

use chain::{ChainClient, Head};
use futures_util::StreamExt;
use store::{
    Db,
    index::{Appended, ChainIdentity, IndexWriter, NewBlock},
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::{HaltReason, IndexStatus, IndexerConfig, load::Loader, trouble::Trouble};

/// Blocks behind the head from which on it is called catching up.
const FAR_BEHIND: u64 = 8;

/// Follows a chain into a database.
pub struct Indexer {
    client: Arc<dyn ChainClient>,
    db: Db,
    config: IndexerConfig,
    status: watch::Sender<IndexStatus>,
}

/// Why catching up ended.
enum Reached {
    /// The index is where it was to get.
    Target,
    /// Somebody else writes.
    Overtaken,
    /// The chain has taken blocks back and the index was dropped.
    Dropped,
}

impl Indexer {
    /// An indexer of this chain into this database.
    pub fn new(client: Arc<dyn ChainClient>, db: Db, config: IndexerConfig) -> Self {
        Self { client, db, config, status: watch::Sender::new(IndexStatus::Starting) }
    }

    /// What it is doing, now and from now on.
    pub fn status(&self) -> watch::Receiver<IndexStatus> {
        self.status.subscribe()
    }

    /// Follows the chain until stopped. Failures of the chain or the database are waited out; after a halt it waits to
    /// be stopped. May be broken off at any moment: the index is always at a whole block.
    pub async fn run(self, stop: CancellationToken) {
        stop.run_until_cancelled(self.keep_following()).await;
    }

    async fn keep_following(&self) {
        let mut pause = self.config.first_pause;
        loop {
            let before = self.db.index_head().await.ok().flatten();
            let Err(trouble) = self.follow().await else { return };
            if let Some(reason) = trouble.halts() {
                return self.halt(reason, &trouble).await;
            }
            // Progress in between means that this failure is a new one.
            let has_moved = self.db.index_head().await.ok().flatten() != before;
            pause =
                if has_moved { self.config.first_pause } else { (pause * 2).min(self.config.longest_pause) };
            tracing::warn!(
                error = chain_of(&trouble),
                retry_ms = pause.as_millis(),
                "indexing was interrupted"
            );
            tokio::time::sleep(pause).await;
        }
    }

    async fn halt(&self, reason: HaltReason, trouble: &Trouble) {
        let at = self.db.index_head().await.ok().flatten().map(|head| head.number);
        tracing::error!(
            error = chain_of(trouble),
            index.block = at,
            "the index has halted; it needs an operator"
        );
        self.status.send_replace(IndexStatus::Halted { at, reason });
        std::future::pending().await
    }

    /// Follows the chain until something goes wrong.
    async fn follow(&self) -> Result<(), Trouble> {
        let mut heads = self.client.heads();
        let mut writer = self.open().await?;
        loop {
            let Some(head) = heads.borrow_and_update().clone() else {
                wait_for_change(&mut heads).await;
                continue;
            };
            match self.reach(&mut writer, &head).await? {
                Reached::Target => wait_for_change(&mut heads).await,
                Reached::Overtaken => self.stand_by(&mut writer).await?,
                Reached::Dropped => {}
            }
        }
    }

    async fn open(&self) -> Result<IndexWriter, Trouble> {
        let chain_id = self.client.chain_id().await?;
        let genesis = self.client.block(0).await?.ok_or(Trouble::Missing(0))?;
        let identity = ChainIdentity { chain_id, genesis_hash: genesis.hash };
        let writer = IndexWriter::open(self.db.clone(), identity).await?;
        tracing::info!(index.next = writer.next_number(), chain.id = chain_id, "the index is open");
        Ok(writer)
    }

    /// Brings the index to a head.
    async fn reach(&self, writer: &mut IndexWriter, head: &Head) -> Result<Reached, Trouble> {
        let target = head.number();
        if let Some(last) = writer.head() {
            let differs = last.number == target && last.hash != head.hash;
            let has_gone_back = target < last.number && self.config.rebuild_on_mismatch;
            if differs || has_gone_back {
                let reason = HaltReason::Rewritten { number: target, expected: last.hash, found: head.hash };
                return self.mismatch(writer, reason).await;
            }
        }
        // A head below the index is a node that has yet to catch up.
        let first = writer.next_number();
        if first > target {
            self.status.send_replace(IndexStatus::Following { at: first.saturating_sub(1) });
            return Ok(Reached::Target);
        }
        self.report(writer, target);
        let loader = Arc::new(Loader::new(Arc::clone(&self.client), self.config.contracts));
        let mut loaded = pin!(loader.load(first..=target));
        while let Some(blocks) = loaded.next().await {
            let blocks = blocks?;
            if let Some(reason) = broken_link(writer, &blocks) {
                return self.mismatch(writer, reason).await;
            }
            if writer.append(&blocks).await? == Appended::Overtaken {
                return Ok(Reached::Overtaken);
            }
            self.report(writer, target);
        }
        if target - first >= FAR_BEHIND {
            self.db.shrink_memory().await?;
        }
        Ok(Reached::Target)
    }

    fn report(&self, writer: &IndexWriter, target: u64) {
        let at = writer.head().map(|head| head.number);
        let behind = target.saturating_sub(at.unwrap_or(0));
        let is_catching_up = matches!(*self.status.borrow(), IndexStatus::Backfilling { .. });
        self.status.send_replace(match at {
            Some(at) if behind == 0 || (behind < FAR_BEHIND && !is_catching_up) => {
                IndexStatus::Following { at }
            }
            _ => IndexStatus::Backfilling { at, target },
        });
    }

    /// The chain is not the one that was indexed: halts, or starts again where blocks may be taken back.
    async fn mismatch(&self, writer: &mut IndexWriter, reason: HaltReason) -> Result<Reached, Trouble> {
        if !self.config.rebuild_on_mismatch {
            return Err(Trouble::Halt(reason));
        }
        tracing::warn!(%reason, "the chain has taken blocks back: the index is built again");
        match writer.reset().await? {
            Appended::Written => Ok(Reached::Dropped),
            Appended::Overtaken => Ok(Reached::Overtaken),
        }
    }

    /// Waits while another writer makes progress.
    async fn stand_by(&self, writer: &mut IndexWriter) -> Result<(), Trouble> {
        let mut seen = writer.head();
        loop {
            writer.refresh().await?;
            let now = writer.head();
            self.status.send_replace(IndexStatus::Standby { at: now.map(|head| head.number) });
            if now == seen && self.is_behind(writer) {
                tracing::warn!(
                    index.next = writer.next_number(),
                    "the other writer stands still: taking over"
                );
                return Ok(());
            }
            seen = now;
            tokio::time::sleep(self.config.standby).await;
        }
    }

    fn is_behind(&self, writer: &IndexWriter) -> bool {
        self.client.heads().borrow().as_ref().is_some_and(|head| head.number() >= writer.next_number())
    }
}

/// The first block that does not follow the one before it.
fn broken_link(writer: &IndexWriter, blocks: &[NewBlock]) -> Option<HaltReason> {
    let before = std::iter::once(writer.next_parent()).chain(blocks.iter().map(|block| block.hash));
    let (expected, block) = before.zip(blocks).find(|(expected, block)| *expected != block.parent_hash)?;
    Some(HaltReason::Mismatch { number: block.number, expected, found: block.parent_hash })
}

async fn wait_for_change(heads: &mut watch::Receiver<Option<Arc<Head>>>) {
    if heads.changed().await.is_err() {
        // The chain has ended, and so will this process.
        std::future::pending::<()>().await;
    }
}

/// An error with its causes, for the log.
fn chain_of(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}
