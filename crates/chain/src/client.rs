//! The port through which everything reads the chain, and hands it transactions.

use std::sync::Arc;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes, U256};
use async_trait::async_trait;
use tokio::sync::watch;

use crate::{Block, ChainError, Receipt, SendError, Sent, Transaction};

/// The newest block that is served.
///
/// IBFT 2.0 blocks are final, so a head never goes back, with one exception: `evm_revert` on the devnet. Whoever keeps
/// something by block number drops it when a head arrives whose number is not higher than the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// The header with all five extraData items.
    pub header: Header,
    /// The on-chain hash.
    pub hash: B256,
}

impl Head {
    /// The block's height.
    pub fn number(&self) -> u64 {
        self.header.number
    }
}

/// Which state a read is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum At {
    /// After the newest served block.
    Head,
    /// After the block at this height.
    Number(u64),
}

/// An account after a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// Balance in wei.
    pub balance: U256,
    /// Number of transactions sent, or contracts created.
    pub nonce: u64,
    /// Code, empty unless the account is a contract.
    pub code: Bytes,
}

/// A transaction and where it is.
#[derive(Debug, Clone)]
pub enum FoundTransaction {
    /// In a block.
    Mined {
        /// The block, whole.
        block: Arc<Block>,
        /// Position in the block.
        index: usize,
    },
    /// Waiting for a block.
    Pending(Arc<Transaction>),
}

/// The chain, wherever it is. Blocks above the served head are never shown.
#[async_trait]
pub trait ChainClient: Send + Sync + 'static {
    /// The EIP-155 chain id.
    async fn chain_id(&self) -> Result<u64, ChainError>;

    /// The served head, now and from now on; `None` until a node has answered for the first time.
    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>>;

    /// Whether a node answered lately. Tells a chain that stands still from one that cannot be reached.
    fn is_reachable(&self) -> bool;

    /// The block at this height, with its transactions.
    async fn block(&self, number: u64) -> Result<Option<Arc<Block>>, ChainError>;

    /// The block with this on-chain hash.
    async fn block_by_hash(&self, hash: B256) -> Result<Option<Arc<Block>>, ChainError>;

    /// The receipts of a block, one per transaction.
    async fn receipts(&self, block: &Block) -> Result<Arc<Vec<Receipt>>, ChainError>;

    /// The transaction with this hash.
    async fn transaction(&self, hash: B256) -> Result<Option<FoundTransaction>, ChainError>;

    /// An account's balance, nonce and code.
    async fn account(&self, address: Address, at: At) -> Result<Account, ChainError>;

    /// What a contract answers to a call that changes nothing.
    async fn call(&self, to: Address, input: Bytes, at: At) -> Result<Bytes, ChainError>;

    /// What creation code returns instead of a contract's code, if it is run at the end of a block. Nothing is created. The
    /// node bounds the gas.
    async fn call_creation(&self, init: Bytes, at: At) -> Result<Bytes, ChainError>;

    /// The price in wei that a transaction should offer for a unit of gas.
    async fn gas_price(&self) -> Result<U256, ChainError>;

    /// The nonce after an account's transactions that are mined or wait. A hint: nodes differ in what waits, and Besu does not look
    /// for gaps below it, see [`crate::NonceProgress`].
    async fn pending_nonce(&self, address: Address) -> Result<u64, ChainError>;

    /// Hands over a signed transaction. The same bytes may be sent any number of times.
    async fn send_transaction(&self, raw: Bytes) -> Result<Sent, SendError>;
}
