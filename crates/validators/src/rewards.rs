//! What each operator earns of a pool for a range of blocks. Whole numbers only; what does not divide stays with the payer.
//!
//! A validator's weight is the blocks it built times its uptime in the range, in millionths. The pool is divided by weight,
//! each share rounded down.

use alloy_primitives::{Address, U256};
use domain::Wei;

/// All of it, in millionths.
const WHOLE_PPM: u64 = 1_000_000;

/// An operator that can be paid, and what its node did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewardCandidate {
    /// Who is paid.
    pub operator: Address,
    /// Display name.
    pub moniker: String,
    /// Commission in basis points. Not subtracted: the registry pays the operator, who settles with its delegators.
    pub commission_bps: u16,
    /// Blocks it built.
    pub proposed: u64,
    /// Turns it kept.
    pub kept: u64,
    /// Turns it missed.
    pub missed: u64,
}

impl RewardCandidate {
    /// Turns kept of turns had, in millionths; zero without a turn.
    pub fn uptime_ppm(&self) -> u64 {
        let turns = u128::from(self.kept) + u128::from(self.missed);
        let ppm = (u128::from(self.kept) * u128::from(WHOLE_PPM)).checked_div(turns).unwrap_or(0);
        u64::try_from(ppm).unwrap_or(WHOLE_PPM)
    }

    fn weight(&self) -> U256 {
        U256::from(self.proposed) * U256::from(self.uptime_ppm())
    }
}

/// What an operator gets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RewardShare {
    /// Who, and for what.
    pub candidate: RewardCandidate,
    /// How much; never zero.
    pub amount: Wei,
}

/// How a pool is divided.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RewardShares {
    /// Who gets something, in the order of the candidates.
    pub shares: Vec<RewardShare>,
    /// What did not divide.
    pub rest: Wei,
}

impl RewardShares {
    /// Divides a pool.
    pub fn divide(pool: Wei, candidates: Vec<RewardCandidate>) -> Self {
        let total = candidates.iter().fold(U256::ZERO, |sum, one| sum.saturating_add(one.weight()));
        let share = |candidate: RewardCandidate| {
            // A pool beyond 2^160 wei does not exist; the weights of all blocks fit into 84 bits.
            let amount = pool.0.saturating_mul(candidate.weight()).checked_div(total).unwrap_or_default();
            (!amount.is_zero()).then_some(RewardShare { candidate, amount: Wei(amount) })
        };
        let shares: Vec<_> = candidates.into_iter().filter_map(share).collect();
        let paid = shares.iter().fold(U256::ZERO, |sum, share| sum.saturating_add(share.amount.0));
        Self { shares, rest: Wei(pool.0.saturating_sub(paid)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(number: u8, proposed: u64, kept: u64, missed: u64) -> RewardCandidate {
        RewardCandidate {
            operator: Address::with_last_byte(number),
            moniker: format!("Validator {number}"),
            commission_bps: 500,
            proposed,
            kept,
            missed,
        }
    }

    fn amounts(pool: u64, candidates: Vec<RewardCandidate>) -> (Vec<u64>, u64) {
        let divided = RewardShares::divide(Wei(U256::from(pool)), candidates);
        (divided.shares.iter().map(|share| share.amount.0.to()).collect(), divided.rest.0.to())
    }

    #[test]
    fn shares_follow_blocks_and_uptime_and_the_rest_is_told() {
        let equal = (1..=3).map(|number| candidate(number, 10, 10, 0)).collect();
        assert_eq!(amounts(100, equal), (vec![33, 33, 33], 1));
        // Half the turns missed: half the weight of its blocks.
        let missed = vec![candidate(1, 10, 10, 0), candidate(2, 10, 5, 5)];
        assert_eq!(amounts(300, missed), (vec![200, 100], 0));
        let idle = vec![candidate(1, 10, 10, 0), candidate(2, 0, 0, 7)];
        assert_eq!(amounts(7, idle), (vec![7], 0));
    }

    #[test]
    fn nobody_who_worked_means_nothing_is_paid() {
        assert_eq!(amounts(100, vec![candidate(1, 0, 0, 3)]), (vec![], 100));
        assert_eq!(amounts(100, Vec::new()), (vec![], 100));
        assert_eq!(amounts(0, vec![candidate(1, 5, 5, 0)]), (vec![], 0));
    }

    #[test]
    fn large_pools_do_not_overflow() {
        let pool = Wei::from_coin(100_000_000_000);
        let year = 15_768_000;
        let divided =
            RewardShares::divide(pool, (1..=21).map(|number| candidate(number, year, year, 1)).collect());
        let paid = divided.shares.iter().fold(U256::ZERO, |sum, share| sum + share.amount.0);
        assert_eq!(paid + divided.rest.0, pool.0);
        assert!(divided.rest.0 < U256::from(21));
    }
}
