//! How much the pool keeps.

use domain::gas::DEFAULT_TRANSACTION_GAS_CAP;

/// A sender whose balance would not pay for its transaction at this price, in wei, comes last where gas costs nothing.
pub(super) const FUNDED_GAS_PRICE: u128 = 1_000_000_000;

/// Bounds on the pool's size and on what it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolLimits {
    /// Transactions of all senders.
    pub max_transactions: usize,
    /// Memory of all transactions.
    pub max_bytes: usize,
    /// Transactions of one sender.
    pub max_per_sender: usize,
    /// Transactions of one sender who could not pay for what it sends at 1 gwei for its gas.
    pub max_per_unfunded_sender: usize,
    /// How far a nonce may lie beyond the end of the sender's executable transactions.
    pub max_future_gap: u64,
    /// By how many percent a replacement must raise both fee cap and tip. Besu forces 0 on a chain without a base
    /// fee, where an equal price then suffices.
    pub price_bump_percent: u64,
    /// Highest price per gas taken, against slips of the keyboard (Besu's `--rpc-tx-feecap`); `None` for any.
    pub max_gas_price: Option<u128>,
    /// Lowest price per gas taken, in wei (Besu's `--min-gas-price`).
    pub min_gas_price: u128,
    /// Highest gas limit taken of one transaction. Not a rule of the chain: blocks from outside may have higher ones.
    pub max_transaction_gas: u64,
}

impl Default for PoolLimits {
    fn default() -> Self {
        Self {
            max_transactions: 50_000,
            max_bytes: 256 * 1024 * 1024,
            max_per_sender: 16_384,
            max_per_unfunded_sender: 64,
            max_future_gap: 200,
            price_bump_percent: 10,
            max_gas_price: Some(1_000_000_000_000_000_000),
            min_gas_price: 0,
            max_transaction_gas: DEFAULT_TRANSACTION_GAS_CAP,
        }
    }
}
