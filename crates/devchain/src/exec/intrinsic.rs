//! Gas that a transaction is charged before it runs.

use alloy_consensus::Transaction as _;
use revm::context_interface::cfg::GasParams;

use super::Fork;
use crate::block::Transaction;

/// The gas that the transaction's data, access list and kind cost in any case.
pub fn intrinsic_gas(tx: &Transaction, fork: Fork) -> u64 {
    let (accounts, slots) = tx.access_list().map_or((0, 0), |list| {
        let slots: usize = list.iter().map(|item| item.storage_keys.len()).sum();
        (list.len() as u64, slots as u64)
    });
    GasParams::new_spec(fork.spec_id())
        .initial_tx_gas(tx.input(), tx.to().is_none(), accounts, slots, 0, None)
        .initial_total_gas()
}
