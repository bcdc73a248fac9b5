//! A client that remembers what cannot change and asks nothing twice at a time.
//!
//! Blocks and receipts are final, so they are kept as long as there is room, and are served while no node can be reached.
//! What is read at the head (accounts, calls, the gas price) is kept until the next head and then dropped as a whole. Equal
//! questions at the same moment become one. Nothing here has a time to live: the head is the clock.

mod flight;
mod history;
mod scope;

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, U256};
use async_trait::async_trait;
use futures_util::FutureExt;
use tokio::{sync::watch, task::AbortHandle};

use self::{flight::Flights, history::History, scope::HeadScope};
use crate::{Account, At, Block, ChainClient, ChainError, FoundTransaction, Head, Receipt, SendError, Sent};

/// How much is remembered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheLimits {
    /// Bytes of blocks.
    pub block_bytes: u64,
    /// Bytes of receipts.
    pub receipt_bytes: u64,
    /// Bytes of accounts, and again of calls, read at the head.
    pub head_bytes: u64,
}

impl Default for CacheLimits {
    fn default() -> Self {
        const MIB: u64 = 1024 * 1024;
        Self { block_bytes: 16 * MIB, receipt_bytes: 8 * MIB, head_bytes: 2 * MIB }
    }
}

/// Remembers the answers of another client.
pub struct Cached<C> {
    inner: Arc<C>,
    memory: Arc<Memory>,
    heads: watch::Receiver<Option<Arc<Head>>>,
    by_number: Flights<u64, Option<Arc<Block>>>,
    by_hash: Flights<B256, Option<Arc<Block>>>,
    receipts: Flights<B256, Arc<Vec<Receipt>>>,
    transactions: Flights<B256, Option<FoundTransaction>>,
    follower: AbortHandle,
}

/// What is remembered.
struct Memory {
    history: Arc<History>,
    accounts: HeadScope<Address, Account>,
    calls: HeadScope<(Address, Bytes), Bytes>,
    gas_price: HeadScope<(), U256>,
}

impl Memory {
    fn new(limits: &CacheLimits) -> Self {
        Self {
            history: Arc::new(History::new(limits)),
            accounts: HeadScope::new(limits.head_bytes),
            calls: HeadScope::new(limits.head_bytes),
            gas_price: HeadScope::new(1024),
        }
    }

    fn observe(&self, head: &Arc<Head>) {
        if self.history.observe(head) {
            self.accounts.clear();
            self.calls.clear();
            self.gas_price.clear();
        }
    }
}

impl<C: ChainClient> Cached<C> {
    /// Puts a memory in front of a client. To be called inside a runtime, where it watches the heads.
    pub fn new(inner: C, limits: &CacheLimits) -> Self {
        let memory = Arc::new(Memory::new(limits));
        let heads = inner.heads();
        let follower = tokio::spawn(follow(heads.clone(), Arc::clone(&memory))).abort_handle();
        Self {
            inner: Arc::new(inner),
            memory,
            heads,
            by_number: Flights::default(),
            by_hash: Flights::default(),
            receipts: Flights::default(),
            transactions: Flights::default(),
            follower,
        }
    }

    /// The client behind the memory.
    pub fn inner(&self) -> &Arc<C> {
        &self.inner
    }

    /// The served head, after the memory has taken note of it.
    fn head(&self) -> Result<Arc<Head>, ChainError> {
        let head = self.heads.borrow().clone().ok_or(ChainError::Unavailable(None))?;
        self.memory.observe(&head);
        Ok(head)
    }

    fn parts(&self) -> (Arc<C>, Arc<History>) {
        (Arc::clone(&self.inner), Arc::clone(&self.memory.history))
    }
}

impl<C> Drop for Cached<C> {
    fn drop(&mut self) {
        self.follower.abort();
    }
}

/// Keeps the memory in step with the heads while nobody reads: a reader would see only the last of several.
async fn follow(mut heads: watch::Receiver<Option<Arc<Head>>>, memory: Arc<Memory>) {
    loop {
        let head = heads.borrow_and_update().clone();
        if let Some(head) = head {
            memory.observe(&head);
        }
        if heads.changed().await.is_err() {
            return;
        }
    }
}

/// Whether a question is about this head.
fn is_about(at: At, head: &Head) -> bool {
    match at {
        At::Head => true,
        At::Number(number) => number == head.number(),
    }
}

#[async_trait]
impl<C: ChainClient> ChainClient for Cached<C> {
    async fn chain_id(&self) -> Result<u64, ChainError> {
        self.inner.chain_id().await
    }

    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        self.heads.clone()
    }

    fn is_reachable(&self) -> bool {
        self.inner.is_reachable()
    }

    async fn block(&self, number: u64) -> Result<Option<Arc<Block>>, ChainError> {
        if number > self.head()?.number() {
            return Ok(None);
        }
        let (inner, history) = self.parts();
        if let Some(block) = history.block_at(number) {
            return Ok(Some(block));
        }
        let line = history.line();
        let ask = || {
            async move {
                let block = inner.block(number).await?;
                block.iter().for_each(|block| history.keep_block(block, line));
                Ok(block)
            }
            .boxed()
        };
        self.by_number.join(number, ask).await
    }

    async fn block_by_hash(&self, hash: B256) -> Result<Option<Arc<Block>>, ChainError> {
        self.head()?;
        let (inner, history) = self.parts();
        if let Some(block) = history.block_with(hash) {
            return Ok(Some(block));
        }
        let line = history.line();
        let ask = || {
            async move {
                let block = inner.block_by_hash(hash).await?;
                block.iter().for_each(|block| history.keep_block(block, line));
                Ok(block)
            }
            .boxed()
        };
        self.by_hash.join(hash, ask).await
    }

    async fn receipts(&self, block: &Block) -> Result<Arc<Vec<Receipt>>, ChainError> {
        let (inner, history) = self.parts();
        if let Some(receipts) = history.receipts(block.hash) {
            return Ok(receipts);
        }
        let block = block.clone();
        let hash = block.hash;
        let ask = || {
            async move {
                let receipts = inner.receipts(&block).await?;
                history.keep_receipts(block.hash, &receipts);
                Ok(receipts)
            }
            .boxed()
        };
        self.receipts.join(hash, ask).await
    }

    async fn transaction(&self, hash: B256) -> Result<Option<FoundTransaction>, ChainError> {
        self.head()?;
        let (inner, history) = self.parts();
        if let Some(found) = history.transaction(hash) {
            return Ok(Some(found));
        }
        let line = history.line();
        let ask = || {
            async move {
                let found = inner.transaction(hash).await?;
                found.iter().for_each(|found| history.keep_transaction(hash, found, line));
                Ok(found)
            }
            .boxed()
        };
        self.transactions.join(hash, ask).await
    }

    async fn account(&self, address: Address, at: At) -> Result<Account, ChainError> {
        let head = self.head()?;
        if !is_about(at, &head) {
            return self.inner.account(address, at).await;
        }
        let (inner, at) = (Arc::clone(&self.inner), At::Number(head.number()));
        let ask = || async move { inner.account(address, at).await };
        self.memory.accounts.read(&head, address, ask).await
    }

    async fn call(&self, to: Address, input: Bytes, at: At) -> Result<Bytes, ChainError> {
        let head = self.head()?;
        if !is_about(at, &head) {
            return self.inner.call(to, input, at).await;
        }
        let (inner, at) = (Arc::clone(&self.inner), At::Number(head.number()));
        let question = (to, input.clone());
        let ask = || async move { inner.call(to, input, at).await };
        self.memory.calls.read(&head, question, ask).await
    }

    /// Not remembered: whoever asks in this way has a question of its own each time.
    async fn call_creation(&self, init: Bytes, at: At) -> Result<Bytes, ChainError> {
        self.inner.call_creation(init, at).await
    }

    async fn gas_price(&self) -> Result<U256, ChainError> {
        let head = self.head()?;
        let inner = Arc::clone(&self.inner);
        let ask = || async move { inner.gas_price().await };
        self.memory.gas_price.read(&head, (), ask).await
    }

    async fn pending_nonce(&self, address: Address) -> Result<u64, ChainError> {
        self.inner.pending_nonce(address).await
    }

    async fn send_transaction(&self, raw: Bytes) -> Result<Sent, SendError> {
        self.inner.send_transaction(raw).await
    }
}
