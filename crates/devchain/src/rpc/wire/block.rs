//! Blocks and headers as callers see them.

use alloy_eips::eip4895::Withdrawals;
use alloy_primitives::{B256, U256};
use alloy_rpc_types_eth::{Block as BlockView, BlockTransactions, Header as HeaderView};
use bytes::Bytes;

use super::mined_transaction;
use crate::block::Block;

/// The header with what Besu adds to it. The hash is the on-chain one and never computed from the header.
pub(crate) fn header_view(block: &Block) -> HeaderView {
    HeaderView {
        hash: block.hash,
        inner: block.header.clone(),
        // Every block weighs 1, genesis included.
        total_difficulty: Some(U256::from(block.number()) + U256::from(1)),
        size: Some(U256::from(block.encoded_length())),
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
    // As Besu shows it: in genesis from Shanghai on, and never later.
    let withdrawals = block.header.withdrawals_root.map(|_| Withdrawals::default());
    let view = BlockView { header: header_view(block), uncles: Vec::new(), transactions, withdrawals };
    serde_json::to_vec(&view).map(Bytes::from)
}
