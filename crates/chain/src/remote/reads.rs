//! The typed reads over JSON-RPC. Block numbers always go out in hex, because Besu gives up decimals.

use std::sync::Arc;

use alloy_primitives::{Address, B256, Bytes, U64, U256};
use async_trait::async_trait;
use serde::Serialize;
use serde_json::value::RawValue;
use tokio::sync::watch;

use super::{
    RemoteClient,
    ask::not_understood,
    decode::{self, DecodeError},
    jsonrpc,
    node::Node,
};
use crate::{Account, At, Block, ChainClient, ChainError, FoundTransaction, Head, Receipt, SendError, Sent};

/// Receipts asked for in one request of a node that has no `eth_getBlockReceipts`.
const RECEIPT_BATCH: usize = 100;
/// What nodes say of a block that they do not have.
const BLOCK_NOT_FOUND: i64 = -32000;

impl RemoteClient {
    fn served(&self) -> Result<Arc<Head>, ChainError> {
        self.shared.served.get().ok_or(ChainError::Unavailable(None))
    }

    /// The height that a question is about; blocks above the served head do not exist yet.
    fn height(&self, at: At) -> Result<u64, ChainError> {
        let served = self.served()?.number();
        match at {
            At::Head => Ok(served),
            At::Number(number) if number <= served => Ok(number),
            At::Number(_) => Err(block_not_found()),
        }
    }
}

fn block_not_found() -> ChainError {
    ChainError::Refused { code: BLOCK_NOT_FOUND, message: "Block not found".to_owned() }
}

#[async_trait]
impl ChainClient for RemoteClient {
    async fn chain_id(&self) -> Result<u64, ChainError> {
        self.shared.chain_id.get().copied().ok_or(ChainError::Unavailable(None))
    }

    fn heads(&self) -> watch::Receiver<Option<Arc<Head>>> {
        self.shared.served.subscribe()
    }

    fn is_reachable(&self) -> bool {
        self.shared.nodes.iter().any(|node| node.is_reachable())
    }

    async fn block(&self, number: u64) -> Result<Option<Arc<Block>>, ChainError> {
        if number > self.served()?.number() {
            return Ok(None);
        }
        let block = self.shared.ask_any(number, |node| async move { block_at(&node, number).await });
        Ok(Some(Arc::new(block.await?)))
    }

    async fn block_by_hash(&self, hash: B256) -> Result<Option<Arc<Block>>, ChainError> {
        let served = self.served()?.number();
        let block = self.shared.ask_any(served, |node| async move { block_with(&node, hash).await }).await?;
        Ok(block.filter(|block| block.number() <= served).map(Arc::new))
    }

    async fn receipts(&self, block: &Block) -> Result<Arc<Vec<Receipt>>, ChainError> {
        if block.number() > self.served()?.number() {
            return Err(block_not_found());
        }
        let receipts = self.shared.ask_any(block.number(), |node| {
            let block = block.clone();
            async move { receipts_of(&node, block).await }
        });
        Ok(Arc::new(receipts.await?.ok_or_else(block_not_found)?))
    }

    async fn transaction(&self, hash: B256) -> Result<Option<FoundTransaction>, ChainError> {
        let served = self.served()?.number();
        let ask = |node: Arc<Node>| async move { transaction_with(&node, hash).await };
        let Some((found, block)) = self.shared.ask_any(served, ask).await? else { return Ok(None) };
        let place = block.filter(|block| block.number() <= served).and_then(|block| {
            let index = block.transactions.iter().position(|transaction| *transaction.tx_hash() == hash)?;
            Some(FoundTransaction::Mined { block: Arc::new(block), index })
        });
        // In a block above the served head it still waits, as far as we can tell.
        Ok(Some(place.unwrap_or_else(|| FoundTransaction::Pending(Arc::new(found)))))
    }

    async fn account(&self, address: Address, at: At) -> Result<Account, ChainError> {
        let number = self.height(at)?;
        self.shared.ask_any(number, |node| async move { account_at(&node, address, number).await }).await
    }

    async fn call(&self, to: Address, input: Bytes, at: At) -> Result<Bytes, ChainError> {
        let number = self.height(at)?;
        let ask = |node: Arc<Node>| {
            let call = Call { to: Some(to), data: input.clone() };
            async move { node.ask("eth_call", (call, U64::from(number)), plain).await }
        };
        self.shared.ask_any(number, ask).await
    }

    async fn call_creation(&self, init: Bytes, at: At) -> Result<Bytes, ChainError> {
        let number = self.height(at)?;
        let ask = |node: Arc<Node>| {
            let call = Call { to: None, data: init.clone() };
            async move { node.ask("eth_call", (call, U64::from(number)), plain).await }
        };
        self.shared.ask_any(number, ask).await
    }

    async fn gas_price(&self) -> Result<U256, ChainError> {
        let served = self.served()?.number();
        let ask = |node: Arc<Node>| async move { node.ask("eth_gasPrice", [(); 0], plain::<U256>).await };
        let asked = self.shared.ask_any(served, ask).await?;
        Ok(asked.max(U256::from(self.shared.config.min_gas_price)))
    }

    async fn pending_nonce(&self, address: Address) -> Result<u64, ChainError> {
        let served = self.served()?.number();
        let ask = |node: Arc<Node>| async move {
            node.ask("eth_getTransactionCount", (address, "pending"), plain::<U64>).await
        };
        Ok(self.shared.ask_any(served, ask).await?.to())
    }

    async fn send_transaction(&self, raw: Bytes) -> Result<Sent, SendError> {
        self.shared.send(raw).await
    }
}

#[derive(Serialize)]
struct Call {
    /// Without it the data is creation code.
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<Address>,
    /// Not `input`, which older nodes do not know.
    data: Bytes,
}

pub(super) fn plain<T: serde::de::DeserializeOwned>(json: &RawValue) -> Result<T, DecodeError> {
    Ok(serde_json::from_str(json.get())?)
}

async fn block_at(node: &Node, number: u64) -> Result<Block, ChainError> {
    let read = move |json: &RawValue| {
        let block = decode::optional(json, decode::block)?.ok_or(DecodeError::MissingBlock)?;
        expect_asked(number, block.number())?;
        Ok(block)
    };
    node.ask("eth_getBlockByNumber", (U64::from(number), true), read).await
}

async fn block_with(node: &Node, hash: B256) -> Result<Option<Block>, ChainError> {
    let read = move |json: &RawValue| {
        let block = decode::optional(json, decode::block)?;
        block.iter().try_for_each(|block| expect_asked(hash, block.hash))?;
        Ok(block)
    };
    node.ask("eth_getBlockByHash", (hash, true), read).await
}

fn expect_asked<T: PartialEq + ToString>(asked: T, found: T) -> Result<(), DecodeError> {
    if asked == found {
        return Ok(());
    }
    Err(DecodeError::Other { asked: asked.to_string(), found: found.to_string() })
}

/// The receipts of a block, in one request if the node can; `None` if it does not have the block.
async fn receipts_of(node: &Node, block: Block) -> Result<Option<Vec<Receipt>>, ChainError> {
    const METHOD: &str = "eth_getBlockReceipts";
    if block.transactions.is_empty() {
        return Ok(Some(Vec::new()));
    }
    if !node.lacks_block_receipts() {
        let known = block.clone();
        let read = move |json: &RawValue| {
            let wire = decode::optional(json, decode::receipts)?;
            wire.map(|wire| decode::check_receipts(&known, wire)).transpose()
        };
        match node.ask(METHOD, [block.hash], read).await {
            Err(error) if jsonrpc::is_unknown_method(&error) => node.note_lack_of_block_receipts(),
            result => return result,
        }
    }
    let mut wire = Vec::with_capacity(block.transactions.len());
    for transactions in block.transactions.chunks(RECEIPT_BATCH) {
        let questions =
            transactions.iter().map(|tx| ("eth_getTransactionReceipt", [*tx.tx_hash()])).collect();
        let read = |_: usize, json: &RawValue| decode::optional(json, decode::receipt);
        wire.extend(node.ask_batch(questions, read).await?);
    }
    let Some(wire) = wire.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
    let receipts = decode::check_receipts(&block, wire);
    receipts.map(Some).map_err(|error| not_understood("eth_getTransactionReceipt", error))
}

/// A transaction, and its block if it has one.
async fn transaction_with(
    node: &Node,
    hash: B256,
) -> Result<Option<(crate::Transaction, Option<Block>)>, ChainError> {
    const METHOD: &str = "eth_getTransactionByHash";
    let read = move |json: &RawValue| {
        let found = decode::optional(json, decode::transaction)?;
        found.iter().try_for_each(|found| expect_asked(hash, *found.transaction.tx_hash()))?;
        Ok(found)
    };
    let Some(found) = node.ask(METHOD, [hash], read).await? else { return Ok(None) };
    let block = match found.block {
        Some(hash) => {
            let block = block_with(node, hash).await?;
            Some(block.ok_or_else(|| not_understood(METHOD, DecodeError::MissingBlock))?)
        }
        None => None,
    };
    Ok(Some((found.transaction, block)))
}

async fn account_at(node: &Node, address: Address, number: u64) -> Result<Account, ChainError> {
    let params = (address, U64::from(number));
    let questions =
        ["eth_getBalance", "eth_getTransactionCount", "eth_getCode"].map(|method| (method, params));
    let read = |index: usize, json: &RawValue| {
        Ok(match index {
            0 => Part::Balance(plain(json)?),
            1 => Part::Nonce(plain(json)?),
            _ => Part::Code(plain(json)?),
        })
    };
    let mut account = Account { balance: U256::ZERO, nonce: 0, code: Bytes::new() };
    for part in node.ask_batch(questions.to_vec(), read).await? {
        match part {
            Part::Balance(balance) => account.balance = balance,
            Part::Nonce(nonce) => account.nonce = nonce.to(),
            Part::Code(code) => account.code = code,
        }
    }
    Ok(account)
}

/// A third of an account.
enum Part {
    Balance(U256),
    Nonce(U64),
    Code(Bytes),
}
