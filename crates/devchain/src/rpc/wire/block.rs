//! Blocks and headers as callers see them.

use std::sync::Arc;

use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{B256, U256};
use alloy_rlp::{BufMut, Encodable};
use alloy_rpc_types_eth::{Block as BlockView, BlockTransactions, Header as HeaderView};
use bytes::Bytes;

use super::mined_transaction;
use crate::block::{Block, Transaction};

/// The header with what Besu adds to it. The hash is the on-chain one and never computed from the header.
pub(crate) fn header_view(block: &Block) -> HeaderView {
    HeaderView {
        hash: block.hash,
        inner: block.header.clone(),
        // Every block weighs 1, genesis included.
        total_difficulty: Some(U256::from(block.number()) + U256::from(1)),
        size: Some(U256::from(encoded_length(block))),
    }
}

/// The block's JSON with whole transactions or their hashes.
pub(crate) fn render_block(block: &Block, full: bool) -> Result<Bytes, serde_json::Error> {
    let transactions = if full {
        let whole = (0..).zip(block.transactions.iter());
        BlockTransactions::Full(whole.map(|(index, tx)| mined_transaction(block, index, tx)).collect())
    } else {
        BlockTransactions::Hashes(block.transactions.iter().map(|tx| *tx.tx_hash()).collect::<Vec<B256>>())
    };
    let view = BlockView { header: header_view(block), uncles: Vec::new(), transactions, withdrawals: None };
    serde_json::to_vec(&view).map(Bytes::from)
}

/// The block as Besu stores and exports it: header, transactions, no ommers.
pub(crate) fn encode_block(block: &Block) -> Vec<u8> {
    let transactions = transactions_length(&block.transactions);
    let mut out = Vec::with_capacity(encoded_length(block));
    alloy_rlp::Header { list: true, payload_length: payload_length(block) }.encode(&mut out);
    block.header.encode(&mut out);
    alloy_rlp::Header { list: true, payload_length: transactions }.encode(&mut out);
    for transaction in block.transactions.iter() {
        transaction.network_encode(&mut out);
    }
    out.put_u8(alloy_rlp::EMPTY_LIST_CODE);
    out
}

fn transactions_length(transactions: &[Arc<Transaction>]) -> usize {
    transactions.iter().map(|transaction| transaction.network_len()).sum()
}

fn payload_length(block: &Block) -> usize {
    let transactions = transactions_length(&block.transactions);
    block.header.length() + alloy_rlp::length_of_length(transactions) + transactions + 1
}

fn encoded_length(block: &Block) -> usize {
    let payload = payload_length(block);
    alloy_rlp::length_of_length(payload) + payload
}
