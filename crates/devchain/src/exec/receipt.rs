//! Receipts, and the roots that a header commits to.

use std::{sync::Arc, thread};

use alloy_consensus::{Transaction as _, Typed2718};
use alloy_eips::Encodable2718;
use alloy_primitives::B256;
use alloy_rlp::{BufMut, Encodable, Header as RlpHeader};
use alloy_trie::root::ordered_trie_root_with_encoder;
use revm::context::result::ExecutionResult;

use crate::block::{Receipt, Transaction};

/// Root of the trie of consensus receipts.
pub fn receipts_root(receipts: &[Receipt]) -> B256 {
    ordered_trie_root_with_encoder(receipts, encode)
}

/// Root of the trie of transactions.
pub fn transactions_root(transactions: &[Arc<Transaction>]) -> B256 {
    ordered_trie_root_with_encoder(transactions, |tx, out| tx.encode_2718(out))
}

/// Transactions from which on another thread is worth its start.
const LONG_BLOCK: usize = 500;

/// The roots over a block's transactions and over its receipts. Those of a long block are found on another thread, while `meanwhile` is
/// done on this one.
pub fn body_roots<T>(
    transactions: &[Arc<Transaction>],
    receipts: &[Receipt],
    meanwhile: impl FnOnce() -> T,
) -> ((B256, B256), T) {
    let roots = || (transactions_root(transactions), receipts_root(receipts));
    if transactions.len() < LONG_BLOCK {
        return (roots(), meanwhile());
    }
    thread::scope(|scope| {
        let roots = scope.spawn(roots);
        let done = meanwhile();
        (roots.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), done)
    })
}

/// The receipt of a transaction that ran after `gas_before` had been used in its block.
pub(super) fn receipt(tx: &Transaction, result: ExecutionResult, gas_before: u64) -> Receipt {
    let gas_used = result.tx_gas_used();
    let (success, logs, revert_reason) = match result {
        ExecutionResult::Success { logs, .. } => (true, logs, None),
        ExecutionResult::Revert { output, .. } => (false, Vec::new(), Some(output)),
        ExecutionResult::Halt { .. } => (false, Vec::new(), None),
    };
    Receipt {
        tx_type: tx.ty(),
        success,
        cumulative_gas_used: gas_before.saturating_add(gas_used),
        gas_used,
        logs,
        // Like Besu and geth, the address is given even if the creation failed.
        contract_address: tx.to().is_none().then(|| tx.signer().create(tx.nonce())),
        revert_reason,
    }
}

fn encode(receipt: &Receipt, out: &mut Vec<u8>) {
    if receipt.tx_type != 0 {
        out.put_u8(receipt.tx_type);
    }
    let bloom = receipt.bloom();
    let payload_length = receipt.success.length()
        + receipt.cumulative_gas_used.length()
        + bloom.length()
        + receipt.logs.length();
    RlpHeader { list: true, payload_length }.encode(out);
    receipt.success.encode(out);
    receipt.cumulative_gas_used.encode(out);
    bloom.encode(out);
    receipt.logs.encode(out);
}
