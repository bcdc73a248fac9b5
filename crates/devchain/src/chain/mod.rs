//! The chain as one object: its head, its store, its pool and its events.
//!
//! Everything that reads the chain or adds to it goes through [`Chain`]. It decides what a valid next block is and
//! publishes heads; who proposes blocks and when is the business of [`crate::produce`].

mod error;
mod extend;
mod fees;
mod moment;
mod open;
mod pending;
mod submit;

use std::sync::Arc;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256};
use ibft::votes::VoteTally;
use parking_lot::RwLock;
use tokio::sync::{broadcast, watch};

pub use error::{ChainError, ImportError, OpenError, SubmitError};
pub(crate) use extend::{Executed, next_header};
pub(crate) use fees::{FeeSuggestion, FeeSuggestions};
pub(crate) use moment::Moment;

use crate::{
    block::{Block, Receipt, Transaction},
    clock::ChainClock,
    exec::{BlockHashes, ChainSpec},
    pool::Pool,
    state::StateView,
    store::{Store, StoreError, TxLocation},
    workers::WorkerPool,
};

/// Events a slow subscriber may fall behind before it misses some.
const EVENT_BACKLOG: usize = 4096;

/// The newest block and what follows from it.
pub struct Head {
    /// The block.
    pub block: Arc<Block>,
    /// Its receipts.
    pub receipts: Arc<Vec<Receipt>>,
    /// The state after it.
    pub state: StateView,
    /// The votes after it, and so the validator set of the next block.
    pub tally: VoteTally,
}

/// Something that happened to the chain.
#[derive(Clone)]
pub enum ChainEvent {
    /// A block was sealed and is durable.
    Head(Arc<Head>),
    /// A transaction entered the pool.
    Pending(Arc<Transaction>),
    /// Blocks above this number were taken back by `evm_revert`.
    Reverted {
        /// The new head's number.
        to: u64,
    },
}

/// The embedded chain.
pub struct Chain {
    spec: ChainSpec,
    genesis_hash: B256,
    store: Store,
    pool: Pool,
    clock: ChainClock,
    head: RwLock<Arc<Head>>,
    /// The head again, in the access layer's words; changes together with `head`.
    served: watch::Sender<Option<Arc<::chain::Head>>>,
    events: broadcast::Sender<ChainEvent>,
    workers: WorkerPool,
}

impl Chain {
    /// What the genesis file fixes.
    pub fn spec(&self) -> &ChainSpec {
        &self.spec
    }

    /// Hash of block 0.
    pub fn genesis_hash(&self) -> B256 {
        self.genesis_hash
    }

    /// The newest block.
    pub fn head(&self) -> Arc<Head> {
        self.head.read().clone()
    }

    /// The newest block's header, now and from now on. `evm_revert` lowers it.
    pub fn heads(&self) -> watch::Receiver<Option<Arc<::chain::Head>>> {
        self.served.subscribe()
    }

    /// Blocks, receipts and state on disk.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Transactions that wait for a block.
    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    /// The chain's clock.
    pub fn clock(&self) -> &ChainClock {
        &self.clock
    }

    /// The threads for reads that may take long.
    pub(crate) fn workers(&self) -> &WorkerPool {
        &self.workers
    }

    /// The state after the block with this header.
    pub fn state_at(&self, header: &Header) -> StateView {
        StateView::new(header.state_root, Arc::new(self.store.clone()))
    }

    /// Where a transaction was mined, as the head knows it: a block that is stored but not the head yet does not count.
    pub fn find_mined(&self, hash: B256) -> Result<Option<TxLocation>, StoreError> {
        let found = self.store.find_transaction(hash)?;
        Ok(found.filter(|place| place.block <= self.head().block.number()))
    }

    /// A header for simulating the block after the head.
    pub fn pending_header(&self) -> Header {
        let head = self.head();
        let parent = &head.block.header;
        let period = self.spec.ibft.block_period_secs;
        let coinbase = ibft::proposer::proposer(parent.beneficiary, &head.tally.validators(), 0)
            .unwrap_or(Address::ZERO);
        let timestamp = self.clock.now_secs().max(parent.timestamp + period);
        next_header(&self.spec, &head.block, coinbase, timestamp)
    }

    /// Heads and pending transactions from now on.
    pub fn subscribe(&self) -> broadcast::Receiver<ChainEvent> {
        self.events.subscribe()
    }

    /// Hashes of earlier blocks, for the `BLOCKHASH` opcode.
    pub fn block_hashes(&self) -> impl BlockHashes + '_ {
        &self.store
    }

    /// Swaps the head. Both forms change under one lock, so that whoever hears of a head can read it, and nobody reads
    /// one that is not announced.
    fn set_head(&self, head: Arc<Head>) {
        let served = served_head(&head.block);
        let mut current = self.head.write();
        *current = head;
        self.served.send_replace(served);
    }

    fn publish(&self, event: ChainEvent) {
        // Nobody listening is fine.
        let _ = self.events.send(event);
    }
}

fn served_head(block: &Block) -> Option<Arc<::chain::Head>> {
    Some(Arc::new(::chain::Head { header: block.header.clone(), hash: block.hash }))
}

impl BlockHashes for &Store {
    fn block_hash(&self, number: u64) -> Option<B256> {
        self.hash_of(number).ok().flatten()
    }
}
