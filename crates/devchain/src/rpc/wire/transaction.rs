//! Transactions as callers see them.

use alloy_consensus::Transaction as _;
use alloy_rpc_types_eth::Transaction as TransactionView;

use crate::block::{Block, Transaction};

/// A transaction with its place in a block.
pub(crate) fn mined_transaction(block: &Block, index: u64, transaction: &Transaction) -> TransactionView {
    TransactionView {
        effective_gas_price: Some(transaction.effective_gas_price(block.header.base_fee_per_gas)),
        inner: transaction.clone(),
        block_hash: Some(block.hash),
        block_number: Some(block.number()),
        transaction_index: Some(index),
        block_timestamp: None,
    }
}

/// A transaction that waits in the pool.
pub(crate) fn pending_transaction(transaction: &Transaction) -> TransactionView {
    TransactionView {
        effective_gas_price: None,
        inner: transaction.clone(),
        block_hash: None,
        block_number: None,
        transaction_index: None,
        block_timestamp: None,
    }
}
