//! A chain that says nothing: crediting has to find new blocks in the index by itself.

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, U256};
use async_trait::async_trait;
use chain::{Account, At, Block, ChainClient, ChainError, FoundTransaction, Head, Receipt, SendError, Sent};
use tokio::sync::watch;

pub(crate) struct SilentChain {
    heads: watch::Sender<Option<Arc<Head>>>,
}

impl SilentChain {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self { heads: watch::Sender::new(None) })
    }
}

fn silence<T>() -> Result<T, ChainError> {
    Err(ChainError::Unavailable(None))
}

#[async_trait]
impl ChainClient for SilentChain {
    async fn chain_id(&self) -> Result<u64, ChainError> {
        silence()
    }

    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        self.heads.subscribe()
    }

    fn is_reachable(&self) -> bool {
        false
    }

    async fn block(&self, _: u64) -> Result<Option<Arc<Block>>, ChainError> {
        silence()
    }

    async fn block_by_hash(&self, _: B256) -> Result<Option<Arc<Block>>, ChainError> {
        silence()
    }

    async fn receipts(&self, _: &Block) -> Result<Arc<Vec<Receipt>>, ChainError> {
        silence()
    }

    async fn transaction(&self, _: B256) -> Result<Option<FoundTransaction>, ChainError> {
        silence()
    }

    async fn account(&self, _: Address, _: At) -> Result<Account, ChainError> {
        silence()
    }

    async fn call(&self, _: Address, _: Bytes, _: At) -> Result<Bytes, ChainError> {
        silence()
    }

    async fn call_creation(&self, _: Bytes, _: At) -> Result<Bytes, ChainError> {
        silence()
    }

    async fn gas_price(&self) -> Result<U256, ChainError> {
        silence()
    }

    async fn pending_nonce(&self, _: Address) -> Result<u64, ChainError> {
        silence()
    }

    async fn send_transaction(&self, _: Bytes) -> Result<Sent, SendError> {
        Err(SendError::Unknown(ChainError::Unavailable(None)))
    }
}
