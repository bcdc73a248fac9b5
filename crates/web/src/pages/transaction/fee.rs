//! What a transaction costs, and where it goes.

use alloy_consensus::Transaction as _;
use alloy_primitives::U256;
use chain::{Block, Receipt, Transaction};

use crate::format::{Number, coin, gwei};

/// What a transaction cost, or may cost at most while it waits.
pub(super) struct Fee {
    pub(super) total: String,
    /// Whether it is what it may cost at most.
    pub(super) is_most: bool,
    pub(super) gas: Number,
    /// Gwei per unit of gas.
    pub(super) price: String,
    /// The part that was burned, and the rest, which the proposer has; none where nothing is burned.
    pub(super) split: Option<(String, String)>,
}

impl Fee {
    pub(super) fn of(transaction: &Transaction, mined: Option<(&Block, &Receipt)>) -> Self {
        let (price, gas, base) = match mined {
            Some((block, receipt)) => {
                let base = block.header.base_fee_per_gas;
                (transaction.effective_gas_price(base), receipt.gas_used, base.unwrap_or(0))
            }
            None => (transaction.max_fee_per_gas(), transaction.gas_limit(), 0),
        };
        let total = U256::from(price).saturating_mul(U256::from(gas));
        let burned = U256::from(base).saturating_mul(U256::from(gas));
        Self {
            total: coin(total),
            is_most: mined.is_none(),
            gas: Number(gas),
            price: gwei(U256::from(price)),
            split: (!burned.is_zero()).then(|| (coin(burned), coin(total.saturating_sub(burned)))),
        }
    }
}
