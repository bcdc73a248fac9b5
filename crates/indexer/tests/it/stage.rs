//! A chain whose head a test holds back and whose answers it can spoil; and running an indexer up to a point.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use alloy_primitives::{Address, B256, Bytes, U256};
use async_trait::async_trait;
use chain::{Account, At, Block, ChainClient, ChainError, FoundTransaction, Head, Receipt, SendError, Sent};
use chainnet_indexer::{IndexStatus, Indexer, IndexerConfig};
use store::Db;
use tokio::{sync::watch, task::JoinHandle};
use tokio_util::sync::CancellationToken;

/// How long anything may take before a test fails.
const DEADLINE: Duration = Duration::from_secs(60);

/// A client that serves another one's chain up to a head of the test's choice.
pub(crate) struct Stage {
    chain: Arc<dyn ChainClient>,
    heads: watch::Sender<Option<Arc<Head>>>,
    /// Every so many reads one fails; never when zero.
    failing: u32,
    reads: AtomicU32,
}

impl Stage {
    pub(crate) fn new(chain: Arc<dyn ChainClient>) -> Arc<Self> {
        Self::failing(chain, 0)
    }

    pub(crate) fn failing(chain: Arc<dyn ChainClient>, failing: u32) -> Arc<Self> {
        Arc::new(Self { chain, heads: watch::Sender::new(None), failing, reads: AtomicU32::new(0) })
    }

    /// Shows the chain up to this block.
    pub(crate) async fn show(&self, number: u64) {
        let block = self.chain.block(number).await.expect("an answer").expect("the block");
        self.heads.send_replace(Some(Arc::new(Head { header: block.header.clone(), hash: block.hash })));
    }

    fn read(&self) -> Result<(), ChainError> {
        let read = self.reads.fetch_add(1, Ordering::Relaxed) + 1;
        if self.failing > 0 && read.is_multiple_of(self.failing) { Err(ChainError::TimedOut) } else { Ok(()) }
    }
}

#[async_trait]
impl ChainClient for Stage {
    async fn chain_id(&self) -> Result<u64, ChainError> {
        self.read()?;
        self.chain.chain_id().await
    }

    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        self.heads.subscribe()
    }

    fn is_reachable(&self) -> bool {
        true
    }

    async fn block(&self, number: u64) -> Result<Option<Arc<Block>>, ChainError> {
        self.read()?;
        self.chain.block(number).await
    }

    async fn block_by_hash(&self, hash: B256) -> Result<Option<Arc<Block>>, ChainError> {
        self.chain.block_by_hash(hash).await
    }

    async fn receipts(&self, block: &Block) -> Result<Arc<Vec<Receipt>>, ChainError> {
        self.read()?;
        self.chain.receipts(block).await
    }

    async fn transaction(&self, hash: B256) -> Result<Option<FoundTransaction>, ChainError> {
        self.chain.transaction(hash).await
    }

    async fn account(&self, address: Address, at: At) -> Result<Account, ChainError> {
        self.chain.account(address, at).await
    }

    async fn call(&self, to: Address, input: Bytes, at: At) -> Result<Bytes, ChainError> {
        self.chain.call(to, input, at).await
    }

    async fn call_creation(&self, init: Bytes, at: At) -> Result<Bytes, ChainError> {
        self.chain.call_creation(init, at).await
    }

    async fn gas_price(&self) -> Result<U256, ChainError> {
        self.chain.gas_price().await
    }

    async fn pending_nonce(&self, address: Address) -> Result<u64, ChainError> {
        self.chain.pending_nonce(address).await
    }

    async fn send_transaction(&self, raw: Bytes) -> Result<Sent, SendError> {
        self.chain.send_transaction(raw).await
    }
}

/// Settings that try again at once.
pub(crate) fn config() -> IndexerConfig {
    let soon = Duration::from_millis(1);
    IndexerConfig {
        first_pause: soon,
        longest_pause: soon,
        standby: Duration::from_millis(50),
        ..IndexerConfig::default()
    }
}

/// A running indexer.
pub(crate) struct Running {
    pub(crate) status: watch::Receiver<IndexStatus>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Running {
    pub(crate) fn start(client: Arc<dyn ChainClient>, db: Db, config: IndexerConfig) -> Self {
        let indexer = Indexer::new(client, db, config);
        let (status, stop) = (indexer.status(), CancellationToken::new());
        let task = tokio::spawn(indexer.run(stop.clone()));
        Self { status, stop, task }
    }

    /// Waits until the indexer says something.
    pub(crate) async fn until(&self, wanted: impl Fn(&IndexStatus) -> bool) -> IndexStatus {
        let mut status = self.status.clone();
        let waiting = tokio::time::timeout(DEADLINE, status.wait_for(|status| wanted(status))).await;
        match waiting {
            Ok(status) => status.expect("the indexer runs").clone(),
            Err(_) => panic!("the indexer is still {:?}", *self.status.borrow()),
        }
    }

    /// Waits until the index is at a block.
    pub(crate) async fn reach(&self, number: u64) {
        self.until(|status| matches!(status, IndexStatus::Following { at } if *at >= number)).await;
    }

    pub(crate) async fn stop(self) {
        self.stop.cancel();
        self.task.await.expect("a clean end");
    }
}

/// Indexes a chain up to a block and stops.
pub(crate) async fn index(chain: Arc<dyn ChainClient>, db: &Db, to: u64) {
    let stage = Stage::new(chain);
    stage.show(to).await;
    let running = Running::start(stage, db.clone(), config());
    running.reach(to).await;
    running.stop().await;
}
