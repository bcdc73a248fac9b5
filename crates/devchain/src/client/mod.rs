//! The embedded chain as the rest of the process reads it: [`::chain::ChainClient`] without a wire.
//!
//! Blocks and receipts leave as the store holds them, nothing is copied or encoded. What a caller is refused, and in
//! which words, is what the JSON-RPC port would answer, so that a reader cannot tell the two apart.

mod call;
mod failure;
mod send;

use std::sync::Arc;

use ::chain::{Account, At, ChainClient, ChainError, FoundTransaction, Head, SendError, Sent};
use alloy_primitives::{Address, B256, Bytes, U256};
use async_trait::async_trait;
use tokio::sync::watch;

use self::failure::{refused, unreadable};
use crate::{
    block::{Block, Receipt},
    chain::{Chain, FeeSuggestions, Moment},
    exec::{CallCosts, Interrupt},
    rpc::{Limits, RpcError},
    workers::{Client, Weight},
};

/// Reads the embedded chain from inside the process.
pub struct EmbeddedClient {
    chain: Arc<Chain>,
    costs: CallCosts,
    fees: Arc<FeeSuggestions>,
    gas_cap: u64,
}

impl EmbeddedClient {
    /// A reader of this chain, with the limits of a JSON-RPC port.
    pub fn new(chain: Arc<Chain>) -> Self {
        let limits = Limits::default();
        Self { chain, costs: CallCosts::default(), fees: Arc::default(), gas_cap: limits.call_gas_cap }
    }

    fn moment(&self, at: At) -> Result<Moment, ChainError> {
        match at {
            At::Head => Ok(Moment::Head(self.chain.head())),
            At::Number(number) => {
                let moment = self.chain.moment(number).map_err(unreadable)?;
                moment.ok_or_else(|| refused(&RpcError::BlockNotFound))
            }
        }
    }

    /// Does slow work off the asynchronous threads, a few pieces at a time.
    async fn elsewhere<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Interrupt) -> T + Send + 'static,
    ) -> Result<T, ChainError> {
        self.chain.workers().run(Client::Product, Weight::Light, work).await.map_err(unreadable)
    }

    fn block_at(&self, number: u64) -> Result<Option<Arc<Block>>, ChainError> {
        let head = self.chain.head();
        if number >= head.block.number() {
            return Ok((number == head.block.number()).then(|| Arc::clone(&head.block)));
        }
        self.chain.store().block(number).map_err(unreadable)
    }
}

#[async_trait]
impl ChainClient for EmbeddedClient {
    async fn chain_id(&self) -> Result<u64, ChainError> {
        Ok(self.chain.spec().chain_id)
    }

    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        self.chain.heads()
    }

    fn is_reachable(&self) -> bool {
        true
    }

    async fn block(&self, number: u64) -> Result<Option<Arc<Block>>, ChainError> {
        self.block_at(number)
    }

    async fn block_by_hash(&self, hash: B256) -> Result<Option<Arc<Block>>, ChainError> {
        let number = self.chain.store().number_of(hash).map_err(unreadable)?;
        let block = number.map(|number| self.block_at(number)).transpose()?.flatten();
        Ok(block.filter(|block| block.hash == hash))
    }

    async fn receipts(&self, block: &Block) -> Result<Arc<Vec<Receipt>>, ChainError> {
        let head = self.chain.head();
        if block.hash == head.block.hash {
            return Ok(Arc::clone(&head.receipts));
        }
        let number = self.chain.store().number_of(block.hash).map_err(unreadable)?;
        let number = number.filter(|number| *number < head.block.number());
        let receipts = number.map(|number| self.chain.store().receipts(number)).transpose();
        receipts.map_err(unreadable)?.flatten().ok_or_else(|| refused(&RpcError::BlockNotFound))
    }

    async fn transaction(&self, hash: B256) -> Result<Option<FoundTransaction>, ChainError> {
        // In this order, because a transaction leaves the pool only after it was mined.
        let pooled = self.chain.pool().get(hash);
        if let Some(place) = self.chain.find_mined(hash).map_err(unreadable)?
            && let Some(block) = self.block_at(place.block)?
        {
            return Ok(Some(FoundTransaction::Mined { block, index: place.index as usize }));
        }
        Ok(pooled.map(FoundTransaction::Pending))
    }

    async fn account(&self, address: Address, at: At) -> Result<Account, ChainError> {
        let moment = self.moment(at)?;
        let Some(account) = moment.state().account(address).map_err(unreadable)? else {
            return Ok(Account { balance: U256::ZERO, nonce: 0, code: Bytes::new() });
        };
        let code = moment.state().code(account.code_hash).map_err(unreadable)?;
        Ok(Account { balance: account.balance, nonce: account.nonce, code })
    }

    async fn call(&self, to: Address, input: Bytes, at: At) -> Result<Bytes, ChainError> {
        self.run_call(to, input, at).await
    }

    async fn call_creation(&self, init: Bytes, at: At) -> Result<Bytes, ChainError> {
        self.run_creation(init, at).await
    }

    async fn gas_price(&self) -> Result<U256, ChainError> {
        // A chain without base fee takes transactions for the least price that its pool takes, so that is what it suggests.
        if self.chain.spec().zero_base_fee {
            return Ok(U256::from(self.chain.min_gas_price()));
        }
        let suggestion = match self.fees.known(&self.chain) {
            Some(known) => known,
            None => {
                let (fees, chain) = (Arc::clone(&self.fees), Arc::clone(&self.chain));
                self.elsewhere(move |_| fees.find(&chain)).await?.map_err(unreadable)?
            }
        };
        Ok(U256::from(suggestion.gas_price))
    }

    async fn pending_nonce(&self, address: Address) -> Result<u64, ChainError> {
        // In this order, because a transaction leaves the pool only after it was mined.
        let pooled = self.chain.pool().pending_nonce(address);
        let account = self.chain.head().state.account(address).map_err(unreadable)?;
        let mined = account.map_or(0, |account| account.nonce);
        Ok(pooled.unwrap_or(0).max(mined))
    }

    async fn send_transaction(&self, raw: Bytes) -> Result<Sent, SendError> {
        send::judge(self.chain.submit(&raw))
    }
}
