//! Which nonces are free.

use std::collections::BTreeSet;

use alloy_primitives::Address;
use store::ClaimRow;

/// Nonces of an account that open claims have, from `mined` on.
pub(super) fn held(open: &[ClaimRow], payer: Address, mined: u64) -> BTreeSet<u64> {
    let payments = open.iter().filter_map(|claim| claim.payment.as_ref());
    payments.filter(|payment| payment.payer == payer && payment.nonce >= mined).map(|p| p.nonce).collect()
}

/// Nonces to give out, lowest first. What lies between those that are held comes first, because nothing above a gap can
/// be mined.
pub(super) fn free(first: u64, held: &BTreeSet<u64>) -> impl Iterator<Item = u64> {
    (first..).filter(|nonce| !held.contains(nonce))
}

/// Nonces below the highest that is held which nobody has.
pub(super) fn gaps(first: u64, held: &BTreeSet<u64>) -> impl Iterator<Item = u64> {
    let end = held.last().copied().unwrap_or(0);
    (first..end).filter(|nonce| !held.contains(nonce))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_given_out_first() {
        let held = BTreeSet::from([3, 4, 6, 9]);
        assert_eq!(free(3, &held).take(5).collect::<Vec<_>>(), [5, 7, 8, 10, 11]);
        assert_eq!(free(7, &held).take(3).collect::<Vec<_>>(), [7, 8, 10]);
        assert_eq!(gaps(3, &held).collect::<Vec<_>>(), [5, 7, 8]);
        assert_eq!(gaps(0, &BTreeSet::new()).count(), 0);
        assert_eq!(gaps(10, &held).count(), 0);
    }
}
