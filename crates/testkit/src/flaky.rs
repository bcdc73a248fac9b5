//! The line to a chain, which a test can cut, or spoil for transactions alone.

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, U256};
use async_trait::async_trait;
use chain::{
    Account, At, Block, ChainClient, ChainError, FoundTransaction, Head, Receipt, Rejection, SendError, Sent,
};
use parking_lot::Mutex;
use tokio::sync::watch;

/// What happens to transactions on their way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing: they arrive, and the answer comes back.
    None,
    /// They arrive, but the answer does not come back.
    AnswerLost,
    /// They do not arrive, and nobody says so.
    Lost,
    /// They do not arrive, and the sender waits for ever.
    Silence,
    /// The node refuses them.
    Refused(Rejection),
}

/// The chain behind a line.
pub struct FlakyClient {
    inner: Arc<dyn ChainClient>,
    fault: Mutex<Fault>,
    is_cut: Mutex<bool>,
    /// Everything that was sent, in order.
    sent: watch::Sender<Vec<Bytes>>,
}

impl FlakyClient {
    /// A line that is whole.
    pub fn new(inner: Arc<dyn ChainClient>) -> Self {
        Self {
            inner,
            fault: Mutex::new(Fault::None),
            is_cut: Mutex::new(false),
            sent: watch::Sender::new(Vec::new()),
        }
    }

    /// Spoils transactions from now on.
    pub fn spoil(&self, fault: Fault) {
        *self.fault.lock() = fault;
    }

    /// Cuts the line altogether, or mends it.
    pub fn cut(&self, is_cut: bool) {
        *self.is_cut.lock() = is_cut;
    }

    /// Transactions that were given to it, whatever became of them.
    pub fn sent(&self) -> watch::Receiver<Vec<Bytes>> {
        self.sent.subscribe()
    }

    fn check(&self) -> Result<(), ChainError> {
        if *self.is_cut.lock() { Err(ChainError::Unavailable(None)) } else { Ok(()) }
    }
}

#[async_trait]
impl ChainClient for FlakyClient {
    async fn chain_id(&self) -> Result<u64, ChainError> {
        self.check()?;
        self.inner.chain_id().await
    }

    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        self.inner.heads()
    }

    fn is_reachable(&self) -> bool {
        self.check().is_ok() && self.inner.is_reachable()
    }

    async fn block(&self, number: u64) -> Result<Option<Arc<Block>>, ChainError> {
        self.check()?;
        self.inner.block(number).await
    }

    async fn block_by_hash(&self, hash: B256) -> Result<Option<Arc<Block>>, ChainError> {
        self.check()?;
        self.inner.block_by_hash(hash).await
    }

    async fn receipts(&self, block: &Block) -> Result<Arc<Vec<Receipt>>, ChainError> {
        self.check()?;
        self.inner.receipts(block).await
    }

    async fn transaction(&self, hash: B256) -> Result<Option<FoundTransaction>, ChainError> {
        self.check()?;
        self.inner.transaction(hash).await
    }

    async fn account(&self, address: Address, at: At) -> Result<Account, ChainError> {
        self.check()?;
        self.inner.account(address, at).await
    }

    async fn call(&self, to: Address, input: Bytes, at: At) -> Result<Bytes, ChainError> {
        self.check()?;
        self.inner.call(to, input, at).await
    }

    async fn call_creation(&self, init: Bytes, at: At) -> Result<Bytes, ChainError> {
        self.check()?;
        self.inner.call_creation(init, at).await
    }

    async fn gas_price(&self) -> Result<U256, ChainError> {
        self.check()?;
        self.inner.gas_price().await
    }

    async fn pending_nonce(&self, address: Address) -> Result<u64, ChainError> {
        self.check()?;
        self.inner.pending_nonce(address).await
    }

    async fn send_transaction(&self, raw: Bytes) -> Result<Sent, SendError> {
        let fault = *self.fault.lock();
        self.sent.send_modify(|sent| sent.push(raw.clone()));
        self.check().map_err(SendError::Unknown)?;
        match fault {
            Fault::None => self.inner.send_transaction(raw).await,
            Fault::AnswerLost => {
                let _ = self.inner.send_transaction(raw).await;
                Err(SendError::Unknown(ChainError::TimedOut))
            }
            Fault::Lost => Err(SendError::Unknown(ChainError::TimedOut)),
            Fault::Silence => std::future::pending().await,
            Fault::Refused(reason) => Err(SendError::Rejected { reason, message: "no".to_owned() }),
        }
    }
}
