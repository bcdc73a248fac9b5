//! A node that can be switched off.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use alloy_primitives::{Address, B256, Bytes, U256};
use async_trait::async_trait;
use chain::{Account, At, Block, ChainClient, ChainError, FoundTransaction, Head, Receipt, SendError, Sent};
use tokio::sync::watch;

/// The chain behind a line that can be cut.
pub struct FlakyClient {
    inner: Arc<dyn ChainClient>,
    is_cut: AtomicBool,
}

impl FlakyClient {
    /// A line that is whole.
    pub fn new(inner: Arc<dyn ChainClient>) -> Self {
        Self { inner, is_cut: AtomicBool::new(false) }
    }

    /// Cuts the line, or mends it.
    pub fn cut(&self, is_cut: bool) {
        self.is_cut.store(is_cut, Ordering::SeqCst);
    }

    fn check(&self) -> Result<(), ChainError> {
        if self.is_cut.load(Ordering::SeqCst) { Err(ChainError::Unavailable(None)) } else { Ok(()) }
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
        self.check().map_err(SendError::Unknown)?;
        self.inner.send_transaction(raw).await
    }
}
