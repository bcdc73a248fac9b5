//! Which nonces of an account that sends are free.
//!
//! What is mined is certain, what waits is not: Besu's pending nonce is the one after the highest transaction in its pool,
//! whatever is missing below it. So what is missing is looked for from the mined nonce on, and told from what waits
//! by time: a transaction that can be mined is, within a few blocks.

use std::collections::BTreeSet;

/// Blocks without a mined transaction of an account that has some waiting, after which the next nonce counts as missing.
const STANDSTILL_BLOCKS: u64 = 3;

/// Whether an account's waiting transactions are mined: since when they are not.
#[derive(Debug, Clone, Copy, Default)]
pub struct NonceProgress {
    /// The mined nonce, and the first block at which it was that while something waited.
    since: Option<(u64, u64)>,
}

impl NonceProgress {
    /// Takes note of an account after a block.
    pub fn observe(&mut self, block: u64, mined: u64, pending: u64) -> NonceState {
        if pending <= mined {
            self.since = None;
        } else if self.since.is_none_or(|(nonce, since)| nonce != mined || since > block) {
            self.since = Some((mined, block));
        }
        let stood = self.since.map_or(0, |(_, since)| block.saturating_sub(since));
        NonceState { mined, pending: pending.max(mined), is_standing: stood >= STANDSTILL_BLOCKS }
    }
}

/// The nonces of an account after a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NonceState {
    /// The next one by what is mined.
    pub mined: u64,
    /// The next one by what waits, as nodes tell it.
    pub pending: u64,
    /// Something waits, and nothing of it was mined for some blocks.
    pub is_standing: bool,
}

impl NonceState {
    /// The nonce that is missing below what waits. `held` are nonces of transactions that we send again ourselves.
    pub fn missing(&self, held: &BTreeSet<u64>) -> Option<u64> {
        (self.is_standing && !held.contains(&self.mined)).then_some(self.mined)
    }

    /// The lowest nonce to give out, but for those that are held. As long as what waits may be somebody else's, that is
    /// the one after it.
    pub fn first_free(&self, held: &BTreeSet<u64>) -> u64 {
        let may_be_foreign = (self.mined..self.pending).any(|nonce| !held.contains(&nonce));
        if may_be_foreign && self.missing(held).is_none() { self.pending } else { self.mined }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(mined: u64, pending: u64, is_standing: bool) -> NonceState {
        NonceState { mined, pending, is_standing }
    }

    #[test]
    fn what_waits_is_left_alone_until_it_stands() {
        let none = BTreeSet::new();
        assert_eq!(state(3, 3, false).first_free(&none), 3);
        assert_eq!(state(3, 7, false).first_free(&none), 7);
        assert_eq!(state(3, 7, true).first_free(&none), 3);
        let ours = BTreeSet::from([3, 4]);
        assert_eq!(state(3, 5, false).first_free(&ours), 3, "all that waits is ours");
        assert_eq!(state(3, 7, true).first_free(&ours), 7, "3 is not missing, it is ours");
        assert_eq!(state(3, u64::MAX, false).first_free(&none), u64::MAX);
    }

    #[test]
    fn standing_is_counted_while_something_waits_and_nothing_is_mined() {
        let mut progress = NonceProgress::default();
        let standing: Vec<bool> = [(10, 0, 2), (11, 0, 2), (12, 0, 3), (13, 0, 3), (14, 1, 3), (16, 1, 3)]
            .map(|(block, mined, pending)| progress.observe(block, mined, pending).is_standing)
            .into();
        assert_eq!(standing, [false, false, false, true, false, false]);
        assert!(progress.observe(17, 1, 3).is_standing);
        assert!(!progress.observe(90, 1, 1).is_standing, "nothing waits");
        assert!(!progress.observe(95, 1, 2).is_standing, "what waits is new");
        assert!(!progress.observe(3, 1, 2).is_standing, "the chain was set back");
    }
}
