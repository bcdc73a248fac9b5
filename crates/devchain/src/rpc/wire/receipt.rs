//! Receipts and logs as callers see them.

use alloy_consensus::{
    Eip658Value, Receipt as ReceiptBody, ReceiptEnvelope, ReceiptWithBloom, Transaction as _, TxType,
};
use alloy_primitives::{B256, Bytes};
use alloy_rpc_types_eth::{Log as LogView, TransactionReceipt};
use serde::Serialize;

use crate::{
    block::{Block, Receipt, Transaction},
    exec::blob_gas_price,
};

/// A receipt with Besu's `revertReason`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ReceiptView {
    #[serde(flatten)]
    receipt: TransactionReceipt,
    #[serde(skip_serializing_if = "Option::is_none")]
    revert_reason: Option<Bytes>,
}

/// The receipts of a block, in order.
pub(crate) fn receipt_views<'a>(
    block: &'a Block,
    receipts: &'a [Receipt],
) -> impl Iterator<Item = ReceiptView> + 'a {
    let mut first_log = 0;
    (0u64..).zip(block.transactions.iter().zip(receipts)).map(move |(index, (transaction, receipt))| {
        let view = view(block, index, transaction, receipt, first_log);
        first_log += receipt.logs.len() as u64;
        view
    })
}

/// The receipt at a position, without rendering the others.
pub(crate) fn receipt_view(block: &Block, receipts: &[Receipt], index: usize) -> Option<ReceiptView> {
    let first_log = receipts.iter().take(index).map(|receipt| receipt.logs.len() as u64).sum();
    Some(view(block, index as u64, block.transactions.get(index)?, receipts.get(index)?, first_log))
}

fn view(
    block: &Block,
    index: u64,
    transaction: &Transaction,
    receipt: &Receipt,
    first_log: u64,
) -> ReceiptView {
    let logs = log_views(block, index, *transaction.tx_hash(), receipt, first_log).collect();
    let blob_gas_used = transaction.blob_gas_used();
    ReceiptView {
        receipt: TransactionReceipt {
            inner: envelope(receipt, logs),
            transaction_hash: *transaction.tx_hash(),
            transaction_index: Some(index),
            block_hash: Some(block.hash),
            block_number: Some(block.number()),
            gas_used: receipt.gas_used,
            effective_gas_price: transaction.effective_gas_price(block.header.base_fee_per_gas),
            blob_gas_used,
            blob_gas_price: blob_gas_used.map(|_| blob_gas_price(&block.header)),
            from: transaction.signer(),
            to: transaction.to(),
            contract_address: receipt.contract_address,
        },
        revert_reason: receipt.revert_reason.clone(),
    }
}

/// All logs of a block, in order.
pub(crate) fn block_logs<'a>(
    block: &'a Block,
    receipts: &'a [Receipt],
) -> impl Iterator<Item = LogView> + 'a {
    let mut first_log = 0;
    (0u64..).zip(block.transactions.iter().zip(receipts)).flat_map(move |(index, (transaction, receipt))| {
        let first = first_log;
        first_log += receipt.logs.len() as u64;
        log_views(block, index, *transaction.tx_hash(), receipt, first)
    })
}

fn log_views<'a>(
    block: &'a Block,
    index: u64,
    hash: B256,
    receipt: &'a Receipt,
    first_log: u64,
) -> impl Iterator<Item = LogView> + 'a {
    (first_log..).zip(&receipt.logs).map(move |(log_index, log)| LogView {
        inner: log.clone(),
        block_hash: Some(block.hash),
        block_number: Some(block.number()),
        block_timestamp: None,
        transaction_hash: Some(hash),
        transaction_index: Some(index),
        log_index: Some(log_index),
        removed: false,
    })
}

/// The receipt that the receipts root commits to.
pub(crate) fn consensus_receipt(receipt: &Receipt) -> ReceiptEnvelope {
    envelope(receipt, receipt.logs.clone())
}

fn envelope<L>(receipt: &Receipt, logs: Vec<L>) -> ReceiptEnvelope<L> {
    let body = ReceiptWithBloom {
        receipt: ReceiptBody {
            status: Eip658Value::Eip658(receipt.success),
            cumulative_gas_used: receipt.cumulative_gas_used,
            logs,
        },
        logs_bloom: receipt.bloom(),
    };
    match TxType::try_from(receipt.tx_type) {
        Ok(TxType::Eip2930) => ReceiptEnvelope::Eip2930(body),
        Ok(TxType::Eip1559) => ReceiptEnvelope::Eip1559(body),
        Ok(TxType::Eip4844) => ReceiptEnvelope::Eip4844(body),
        Ok(TxType::Eip7702) => ReceiptEnvelope::Eip7702(body),
        Ok(TxType::Legacy) | Err(_) => ReceiptEnvelope::Legacy(body),
    }
}
