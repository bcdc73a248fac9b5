//! How much the pool keeps.

/// Bounds on the pool's size and on what it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolLimits {
    /// Transactions of all senders.
    pub max_transactions: usize,
    /// Memory of all transactions.
    pub max_bytes: usize,
    /// Transactions of one sender.
    pub max_per_sender: usize,
    /// How far a nonce may lie beyond the end of the sender's executable transactions.
    pub max_future_gap: u64,
    /// By how many percent a replacement must raise both fee cap and tip. Besu forces 0 on a chain without a base
    /// fee, where an equal price then suffices.
    pub price_bump_percent: u64,
    /// Highest price per gas taken, against slips of the keyboard (Besu's `--rpc-tx-feecap`); `None` for any.
    pub max_gas_price: Option<u128>,
}

impl Default for PoolLimits {
    fn default() -> Self {
        Self {
            max_transactions: 50_000,
            max_bytes: 256 * 1024 * 1024,
            max_per_sender: 16_384,
            max_future_gap: 200,
            price_bump_percent: 10,
            max_gas_price: Some(1_000_000_000_000_000_000),
        }
    }
}
