//! Keeping the board up to date: one for every head, and again when the index has caught up.

use std::{sync::Arc, time::Duration};

use alloy_primitives::Address;
use chain::{ChainClient, Head};
use store::Db;
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::error::ValidatorError;

use super::{Board, read_board, registry::Contracts};

/// How long a new head waits for the index, which follows the same heads.
const INDEX_PATIENCE: Duration = Duration::from_millis(500);
/// How often the index is asked meanwhile.
const INDEX_POLL: Duration = Duration::from_millis(20);
/// An index so many blocks behind is catching up; a board does not wait for it.
const CATCHING_UP: u64 = 8;
/// Pause before another try, or before looking whether the index has moved.
const PAUSE: Duration = Duration::from_secs(1);

/// The newest board, now and from now on; `None` until the first one is there.
pub type Boards = watch::Receiver<Option<Arc<Board>>>;

/// The newest board, or a failure to answer with.
pub fn newest(boards: &Boards) -> Result<Arc<Board>, ValidatorError> {
    boards.borrow().clone().ok_or(ValidatorError::NotReady)
}

/// Where things are on this chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoardSettings {
    /// The registry.
    pub registry: Address,
    /// Multicall3.
    pub multicall: Address,
    /// Blocks after which votes are forgotten (`epochlength` of the genesis file).
    pub epoch_length: u64,
}

impl Default for BoardSettings {
    fn default() -> Self {
        Self {
            registry: contracts::address::REGISTRY,
            multicall: contracts::address::MULTICALL3,
            epoch_length: ibft::IbftConfig::default().epoch_length,
        }
    }
}

impl BoardSettings {
    pub(super) const fn contracts(&self) -> Contracts {
        Contracts { registry: self.registry, multicall: self.multicall }
    }
}

/// Computes boards and hands them out.
pub struct BoardKeeper {
    client: Arc<dyn ChainClient>,
    db: Db,
    settings: BoardSettings,
    boards: watch::Sender<Option<Arc<Board>>>,
}

impl BoardKeeper {
    /// A keeper for this chain and its index.
    pub fn new(client: Arc<dyn ChainClient>, db: Db, settings: BoardSettings) -> Self {
        Self { client, db, settings, boards: watch::Sender::new(None) }
    }

    /// The boards, for everybody who reads them.
    pub fn boards(&self) -> Boards {
        self.boards.subscribe()
    }

    /// Follows the heads until stopped. A chain or a database that does not answer leaves the last board in place.
    pub async fn run(self, stop: CancellationToken) {
        let _ = stop.run_until_cancelled(self.follow()).await;
    }

    async fn follow(&self) {
        let mut heads = self.client.heads();
        loop {
            let head = heads.borrow_and_update().clone();
            let is_settled = match head {
                None => true,
                Some(head) => self.refresh(&head).await,
            };
            let next = async { if is_settled { std::future::pending().await } else { sleep(PAUSE).await } };
            tokio::select! {
                changed = heads.changed() => if changed.is_err() { return },
                () = next => {}
            }
        }
    }

    /// Makes the board of a head and answers whether nothing can be added to it before the next one.
    async fn refresh(&self, head: &Head) -> bool {
        match self.renew(head).await {
            Ok(is_current) => is_current,
            Err(error) => {
                tracing::warn!(
                    block = head.number(),
                    error = &error as &dyn std::error::Error,
                    "the board of validators cannot be renewed"
                );
                false
            }
        }
    }

    async fn renew(&self, head: &Head) -> Result<bool, ValidatorError> {
        let indexed = self.await_index(head.number()).await?;
        let is_known = self
            .boards
            .borrow()
            .as_ref()
            .is_some_and(|board| board.block_hash == head.hash && board.as_of_block == indexed);
        if !is_known {
            let board = read_board(&*self.client, &self.db, &self.settings, head).await?;
            self.boards.send_replace(Some(Arc::new(board)));
        }
        Ok(indexed.is_some_and(|indexed| indexed >= head.number()))
    }

    /// Waits a little for the index to have the block, and answers how far it is.
    async fn await_index(&self, block: u64) -> Result<Option<u64>, ValidatorError> {
        let deadline = Instant::now() + INDEX_PATIENCE;
        loop {
            let indexed = self.db.index_head().await?.map(|head| head.number);
            let behind = block.saturating_sub(indexed.unwrap_or(0));
            if behind == 0 && indexed.is_some() || behind > CATCHING_UP || Instant::now() >= deadline {
                return Ok(indexed);
            }
            sleep(INDEX_POLL).await;
        }
    }
}
