//! What a transaction of ours offers for its gas.

use alloy_primitives::U256;

/// Least price per gas that a transaction may cost at most. What is not needed is not paid.
const PRICE_FLOOR: u128 = 1_000_000_000;
/// By how much the base fee may grow until the transaction is mined: over 17 full blocks.
const BASE_FEE_GROWTH: u128 = 8;

/// What a transaction offers for a unit of gas, in wei.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fees {
    /// To the proposer.
    pub tip: u128,
    /// In all, at most.
    pub most: u128,
}

impl Fees {
    /// Enough at this price and base fee, and for a while when they rise.
    pub fn new(gas_price: U256, base_fee: u64) -> Self {
        let tip = gas_price.saturating_to::<u128>().saturating_sub(base_fee.into());
        let base = u128::from(base_fee).saturating_mul(BASE_FEE_GROWTH);
        Self { tip, most: base.saturating_add(tip).max(PRICE_FLOOR) }
    }

    /// More than enough to replace a transaction with these fees, which nodes want to see grow by a tenth.
    pub fn outbidding(self) -> Self {
        let tip = self.tip.saturating_mul(2).max(1);
        Self { tip, most: self.most.saturating_mul(2).saturating_add(tip) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fees_follow_the_price_and_leave_room() {
        let free = Fees::new(U256::ZERO, 0);
        assert_eq!((free.tip, free.most), (0, PRICE_FLOOR));
        let dear = Fees::new(U256::from(3_000_000_000u64), 2_000_000_000);
        assert_eq!((dear.tip, dear.most), (1_000_000_000, 17_000_000_000));
        assert_eq!(Fees::new(U256::MAX, u64::MAX).most, u128::MAX);
        assert!(free.outbidding().tip > free.tip && dear.outbidding().most > dear.most * 11 / 10);
    }
}
