//! Senders that have to wait because a transaction of theirs took too long to execute.

use std::collections::VecDeque;

use alloy_primitives::{Address, map::AddressMap};

/// Blocks that a sender waits: two minutes at two seconds a block.
const BLOCKS: u64 = 60;
/// Senders that are remembered; beyond that the one that has waited longest is let go.
const MAX_SENDERS: usize = 4096;

/// Senders that have to wait.
#[derive(Debug, Default)]
pub(super) struct Suspensions {
    until: AddressMap<u64>,
    /// In the order in which they end, which is the order in which they began.
    ends: VecDeque<(Address, u64)>,
}

impl Suspensions {
    /// Lets a sender wait, from the block that is being built on; answers the first block that it is taken for again.
    pub(super) fn begin(&mut self, sender: Address, building: u64) -> u64 {
        while let Some(&(first, end)) = self.ends.front() {
            if end > building && self.ends.len() < MAX_SENDERS {
                break;
            }
            self.ends.pop_front();
            // It may have been suspended again since.
            if self.until.get(&first) == Some(&end) {
                self.until.remove(&first);
            }
        }
        let until = building.saturating_add(BLOCKS);
        self.until.insert(sender, until);
        self.ends.push_back((sender, until));
        until
    }

    /// The first block that the sender is taken for again, if it has to wait for that.
    pub(super) fn until(&self, sender: Address, building: u64) -> Option<u64> {
        self.until.get(&sender).copied().filter(|until| building < *until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sender(number: u64) -> Address {
        Address::left_padding_from(&number.to_be_bytes())
    }

    #[test]
    fn a_sender_waits_for_its_blocks_and_no_longer() {
        let mut suspensions = Suspensions::default();
        assert_eq!(suspensions.begin(sender(1), 10), 70);
        assert_eq!(suspensions.until(sender(1), 11), Some(70));
        assert_eq!(suspensions.until(sender(1), 69), Some(70));
        assert_eq!(suspensions.until(sender(1), 70), None);
        assert_eq!(suspensions.until(sender(2), 11), None);
        assert_eq!(suspensions.begin(sender(1), 40), 100);
        suspensions.begin(sender(2), 75);
        assert_eq!(suspensions.until(sender(1), 75), Some(100), "the second suspension counts");
    }

    #[test]
    fn the_table_is_bounded_and_lets_the_oldest_go() {
        let mut suspensions = Suspensions::default();
        for number in 0..=MAX_SENDERS as u64 {
            suspensions.begin(sender(number), 10);
        }
        assert_eq!((suspensions.until.len(), suspensions.ends.len()), (MAX_SENDERS, MAX_SENDERS));
        assert_eq!(suspensions.until(sender(0), 11), None);
        assert_eq!(suspensions.until(sender(1), 11), Some(70));
    }
}
