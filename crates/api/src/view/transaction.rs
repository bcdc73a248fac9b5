//! A transaction with its receipt.

use alloy_consensus::{Transaction as _, Typed2718};
use alloy_primitives::U256;
use async_graphql::{Enum, SimpleObject};
use chain::{Block, Receipt, Transaction};
use serde::Serialize;
use utoipa::ToSchema;

use super::{AddressText, CoinText, HashText, HexText, Long, TimeText, WeiText};
use crate::meaning;

/// A transaction, and its receipt once it is in a block.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "Transaction")]
pub(crate) struct TransactionView {
    /// The transaction's hash.
    hash: HashText,
    /// What became of it.
    status: TransactionStatus,
    /// Height of its block; null while it waits, like everything below that a block decides.
    block_number: Option<Long>,
    /// Hash of its block.
    block_hash: Option<HashText>,
    /// Time of its block.
    timestamp: Option<TimeText>,
    /// Its place in the block.
    #[schema(example = 0)]
    index: Option<u32>,
    /// EIP-2718 type: 0, 1 or 2.
    #[schema(example = 2)]
    r#type: u8,
    /// Who sent it.
    from: AddressText,
    /// Who received it; null when it creates a contract.
    to: Option<AddressText>,
    /// The contract that it created.
    contract_address: Option<AddressText>,
    /// Coin sent along.
    value: CoinText,
    /// The same in wei.
    value_wei: WeiText,
    /// How many transactions its sender had sent before.
    #[schema(example = 0)]
    nonce: Long,
    /// Gas it may use.
    gas_limit: Long,
    /// Gas it used.
    gas_used: Option<Long>,
    /// Wei per unit of gas that it offers at most.
    gas_price_wei: WeiText,
    /// Wei per unit of gas that it paid.
    effective_gas_price_wei: Option<WeiText>,
    /// What it paid for gas, in coin.
    fee: Option<CoinText>,
    /// The same in wei.
    fee_wei: Option<WeiText>,
    /// Its data.
    input: HexText,
    /// The function it calls; null when it carries no data or creates a contract.
    method: Option<MethodView>,
    /// Why it failed, as far as it can be read.
    #[schema(example = "PlatformFeesZeroAmount()")]
    revert_reason: Option<String>,
    /// What it did.
    receipt: Option<ReceiptView>,
}

/// What became of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema, Enum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum TransactionStatus {
    /// It is in a block and did what it should.
    Success,
    /// It is in a block and was undone.
    Failed,
    /// It waits for a block.
    Pending,
}

/// The function that a transaction calls.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "Method")]
pub(crate) struct MethodView {
    /// The first four bytes of the data.
    #[schema(pattern = "^0x[0-9a-f]{8}$", example = "0xa9059cbb")]
    selector: String,
    /// The function's signature, if it is one that we know.
    #[schema(example = "transfer(address,uint256)")]
    signature: Option<String>,
}

/// What a transaction did.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "Receipt")]
pub(crate) struct ReceiptView {
    /// 1 for success, 0 for failure.
    #[schema(minimum = 0, maximum = 1, example = 1)]
    status: u8,
    /// Gas used by this transaction.
    gas_used: Long,
    /// Gas used in the block up to and including it.
    cumulative_gas_used: Long,
    /// Bloom filter over the logs.
    logs_bloom: HexText,
    /// Events, in order.
    logs: Vec<LogView>,
}

/// An event.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "Log")]
pub(crate) struct LogView {
    /// Its place among the block's events.
    #[schema(example = 0)]
    index: u32,
    /// The contract that emitted it.
    address: AddressText,
    /// Hash of the event's signature, then its indexed values.
    topics: Vec<HashText>,
    /// Its other values.
    data: HexText,
}

impl TransactionView {
    /// A transaction that waits for a block.
    pub(crate) fn pending(tx: &Transaction) -> Self {
        Self {
            hash: HashText(*tx.tx_hash()),
            status: TransactionStatus::Pending,
            block_number: None,
            block_hash: None,
            timestamp: None,
            index: None,
            r#type: tx.ty(),
            from: AddressText(tx.signer()),
            to: tx.to().map(AddressText),
            contract_address: None,
            value: CoinText::of(tx.value()),
            value_wei: WeiText(tx.value()),
            nonce: Long(tx.nonce()),
            gas_limit: Long(tx.gas_limit()),
            gas_used: None,
            gas_price_wei: WeiText(U256::from(tx.max_fee_per_gas())),
            effective_gas_price_wei: None,
            fee: None,
            fee_wei: None,
            input: HexText(tx.input().clone()),
            method: method(tx),
            revert_reason: None,
            receipt: None,
        }
    }

    /// The transaction at this place of a block; `None` when block and receipts do not have it.
    pub(crate) fn mined(block: &Block, receipts: &[Receipt], index: usize) -> Option<Self> {
        let (tx, receipt) = (block.transactions.get(index)?, receipts.get(index)?);
        let price = U256::from(tx.effective_gas_price(block.header.base_fee_per_gas));
        let fee = price * U256::from(receipt.gas_used);
        let logs_before = receipts.iter().take(index).map(|receipt| receipt.logs.len()).sum();
        Some(Self {
            status: if receipt.success { TransactionStatus::Success } else { TransactionStatus::Failed },
            block_number: Some(Long(block.number())),
            block_hash: Some(HashText(block.hash)),
            timestamp: Some(TimeText::from_unix(block.header.timestamp)),
            index: u32::try_from(index).ok(),
            contract_address: receipt.contract_address.map(AddressText),
            gas_used: Some(Long(receipt.gas_used)),
            effective_gas_price_wei: Some(WeiText(price)),
            fee: Some(CoinText::of(fee)),
            fee_wei: Some(WeiText(fee)),
            revert_reason: receipt.revert_reason.as_ref().map(|output| meaning::revert_reason(output)),
            receipt: Some(ReceiptView::new(receipt, logs_before)),
            ..Self::pending(tx)
        })
    }

    /// All transactions of a block.
    pub(crate) fn all(block: &Block, receipts: &[Receipt]) -> Vec<Self> {
        (0..block.transactions.len()).filter_map(|index| Self::mined(block, receipts, index)).collect()
    }
}

fn method(tx: &Transaction) -> Option<MethodView> {
    tx.to()?;
    tx.input().first_chunk().copied().map(MethodView::new)
}

impl MethodView {
    /// The function with this selector.
    pub(crate) fn new(selector: [u8; 4]) -> Self {
        Self {
            selector: alloy_primitives::hex::encode_prefixed(selector),
            signature: meaning::function(selector).map(str::to_owned),
        }
    }
}

impl ReceiptView {
    fn new(receipt: &Receipt, logs_before: usize) -> Self {
        let logs = receipt.logs.iter().zip(logs_before..);
        Self {
            status: u8::from(receipt.success),
            gas_used: Long(receipt.gas_used),
            cumulative_gas_used: Long(receipt.cumulative_gas_used),
            logs_bloom: HexText(receipt.bloom().data().to_vec().into()),
            logs: logs
                .map(|(log, index)| LogView {
                    index: u32::try_from(index).unwrap_or(u32::MAX),
                    address: AddressText(log.address),
                    topics: log.data.topics().iter().copied().map(HashText).collect(),
                    data: HexText(log.data.data.clone()),
                })
                .collect(),
        }
    }
}
