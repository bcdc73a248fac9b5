//! Following the index.

use std::{sync::Arc, time::Duration};

use access::Clock;
use chain::{ChainClient, Head};
use store::{
    Db, StoreError,
    portal::{CreditOutcome, CreditPoint, IndexPoint},
};
use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{CreditHalt, CreditSettings, CreditStatus, Credited, read, rules};
use crate::{cause::chain_of, time::millis};

/// Pause after a failure.
const PAUSE: Duration = Duration::from_millis(500);
/// Longest pause between two looks at an index that is behind the chain.
const LONGEST_INDEX_POLL: Duration = Duration::from_millis(100);

/// Applies payments. Several may run, in several processes; one credits at a time, and each block once.
pub struct Crediting {
    db: Db,
    chain: Arc<dyn ChainClient>,
    settings: CreditSettings,
    clock: Clock,
    progress: watch::Sender<Credited>,
    status: watch::Sender<CreditStatus>,
}

/// Why a round ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reached {
    /// The end of the index.
    End(Option<u64>),
    /// Nothing, because what is credited is not what is indexed.
    Changed,
    /// A rival.
    Rival,
}

/// Why crediting was broken off.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error("the database failed")]
    Store(#[from] StoreError),
    #[error("payments were credited of blocks that are no longer there")]
    Halt(#[source] CreditHalt),
}

impl Crediting {
    /// Crediting of this chain's payments in this database, which an indexer follows, too.
    pub fn new(db: Db, chain: Arc<dyn ChainClient>, settings: CreditSettings, clock: Clock) -> Self {
        let progress = watch::Sender::new(Credited::default());
        let status = watch::Sender::new(CreditStatus::Starting);
        Self { db, chain, settings, clock, progress, status }
    }

    /// How far it is, now and from now on.
    pub fn credited(&self) -> watch::Receiver<Credited> {
        self.progress.subscribe()
    }

    /// What it is doing, now and from now on.
    pub fn status(&self) -> watch::Receiver<CreditStatus> {
        self.status.subscribe()
    }

    /// Credits until stopped. Failures of the database are waited out; after a halt it waits to be stopped. May be broken
    /// off at any moment: blocks are credited whole or not at all.
    pub async fn run(self, stop: CancellationToken) {
        stop.run_until_cancelled(self.keep_crediting()).await;
    }

    async fn keep_crediting(&self) {
        let mut heads = self.chain.heads();
        let mut behind_since = None;
        loop {
            match self.round().await {
                Ok(Reached::End(at)) => self.wait(&mut heads, at, &mut behind_since).await,
                Ok(Reached::Changed) => tokio::time::sleep(self.settings.index_poll).await,
                Ok(Reached::Rival) => self.stand_by().await,
                Err(Trouble::Halt(halt)) => return self.halt(halt).await,
                Err(trouble) => {
                    tracing::error!(error = chain_of(&trouble), "payments cannot be credited at the moment");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    /// Credits everything that the index has.
    async fn round(&self) -> Result<Reached, Trouble> {
        loop {
            let Some(index) = self.db.index_point().await? else { return Ok(Reached::End(None)) };
            let from = self.db.credit_point().await?;
            self.report(from);
            if let Some(from) = from
                && !self.agree(from, index).await?
            {
                return Ok(Reached::Changed);
            }
            let now = millis((self.clock)());
            let blocks = self.settings.batch_blocks;
            let Some(batch) = read::next_batch(&self.db, index, from, blocks, now).await? else {
                self.set_status(CreditStatus::Following);
                return Ok(Reached::End(index.number));
            };
            let began = Instant::now();
            match self.db.credit(&batch, |ledger| rules::decide(&batch.payments, ledger)).await? {
                CreditOutcome::Done { payments, deliveries } => {
                    self.report(Some(batch.to));
                    if payments > 0 {
                        tracing::info!(
                            credit.block = batch.to.number,
                            credit.payments = payments,
                            credit.deliveries = deliveries,
                            credit.ms = began.elapsed().as_millis(),
                            "payments are credited"
                        );
                    }
                }
                CreditOutcome::Overtaken => return Ok(Reached::Rival),
                CreditOutcome::IndexChanged => return Ok(Reached::Changed),
            }
        }
    }

    /// Whether the index still has the last block that was credited. If it has another one, crediting starts again where
    /// blocks may be taken back, and halts elsewhere.
    async fn agree(&self, from: CreditPoint, index: IndexPoint) -> Result<bool, Trouble> {
        let is_below = index.number.is_none_or(|number| number < from.number);
        if is_below && !self.settings.may_rewind {
            if *self.status.borrow() != CreditStatus::WaitingForIndex {
                tracing::warn!(
                    credit.block = from.number,
                    index.block = index.number,
                    "the index is behind what is credited"
                );
            }
            self.set_status(CreditStatus::WaitingForIndex);
            tokio::time::sleep(self.settings.idle_poll).await;
            return Ok(false);
        }
        let indexed = if is_below { None } else { self.db.indexed_block(from.number).await? };
        match indexed {
            Some(indexed) if indexed.hash == from.hash => Ok(true),
            Some(_) | None if self.settings.may_rewind => {
                tracing::warn!(
                    credit.block = from.number,
                    "the chain has taken blocks back: payments are looked through again, credited ones stay"
                );
                self.db.rewind_credit(from).await?;
                Ok(false)
            }
            Some(indexed) => {
                let (number, credited, indexed) = (from.number, from.hash, indexed.hash);
                Err(Trouble::Halt(CreditHalt { number, credited, indexed }))
            }
            // Dropped in between; the next look tells.
            None => Ok(false),
        }
    }

    fn report(&self, point: Option<CreditPoint>) {
        let credited = Credited::from(point);
        self.progress.send_if_modified(|last| std::mem::replace(last, credited) != credited);
    }

    fn set_status(&self, status: CreditStatus) {
        self.status.send_if_modified(|last| std::mem::replace(last, status) != status);
    }

    /// Waits for a block after `at`: for the chain to have it, then for the index.
    async fn wait(
        &self,
        heads: &mut watch::Receiver<Option<Arc<Head>>>,
        at: Option<u64>,
        behind_since: &mut Option<Instant>,
    ) {
        let head = heads.borrow_and_update().as_ref().map(|head| head.number());
        if head > at {
            let since = *behind_since.get_or_insert_with(Instant::now);
            // Most often the index has it in a moment. If it does not, something is wrong with it, and there is no hurry.
            let pause = (since.elapsed() / 10).clamp(self.settings.index_poll, LONGEST_INDEX_POLL);
            return tokio::time::sleep(pause).await;
        }
        *behind_since = None;
        tokio::select! {
            Ok(()) = heads.changed() => {}
            () = tokio::time::sleep(self.settings.idle_poll) => {}
        }
    }

    /// Waits while a rival makes progress.
    async fn stand_by(&self) {
        self.set_status(CreditStatus::Standby);
        let mut seen = (*self.progress.borrow(), Instant::now());
        loop {
            tokio::time::sleep(LONGEST_INDEX_POLL).await;
            let (Ok(point), Ok(index)) = (self.db.credit_point().await, self.db.index_point().await) else {
                continue;
            };
            self.report(point);
            let credited = Credited::from(point);
            let is_behind = index.and_then(|index| index.number) > credited.block;
            if credited != seen.0 || !is_behind {
                seen = (credited, Instant::now());
            } else if seen.1.elapsed() >= self.settings.standby {
                tracing::warn!(credit.block = credited.block, "the other worker stands still: taking over");
                return;
            }
        }
    }

    async fn halt(&self, halt: CreditHalt) {
        tracing::error!(error = %halt, "crediting has halted; it needs an operator");
        self.set_status(CreditStatus::Halted(halt));
        std::future::pending().await
    }
}
