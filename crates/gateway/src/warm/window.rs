//! The newest blocks, without a gap between them.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::RwLock;

use super::WarmBlock;

/// Most blocks remembered: ten minutes.
const MAX_BLOCKS: usize = 300;
/// Most bytes of them.
const MAX_BYTES: usize = 48 * 1024 * 1024;

/// The newest blocks.
#[derive(Default)]
pub(crate) struct Window(RwLock<Blocks>);

#[derive(Default)]
struct Blocks {
    blocks: VecDeque<Arc<WarmBlock>>,
    bytes: usize,
}

impl Window {
    /// Adds a block. If it does not follow on the last one, those before it are forgotten.
    pub(crate) fn push(&self, block: Arc<WarmBlock>) {
        let mut inner = self.0.write();
        if inner.blocks.back().is_some_and(|last| last.number + 1 != block.number) {
            *inner = Blocks::default();
        }
        inner.bytes += block.weight;
        inner.blocks.push_back(block);
        while inner.blocks.len() > MAX_BLOCKS || (inner.bytes > MAX_BYTES && inner.blocks.len() > 1) {
            let oldest = inner.blocks.pop_front().map_or(0, |block| block.weight);
            inner.bytes = inner.bytes.saturating_sub(oldest);
        }
    }

    /// Forgets everything.
    pub(crate) fn clear(&self) {
        *self.0.write() = Blocks::default();
    }

    /// These blocks, if all of them are here.
    pub(crate) fn range(&self, from: u64, to: u64) -> Option<Vec<Arc<WarmBlock>>> {
        let inner = self.0.read();
        let first = inner.blocks.front()?.number;
        let skip = usize::try_from(from.checked_sub(first)?).ok()?;
        let take = usize::try_from(to.checked_sub(from)?.checked_add(1)?).ok()?;
        let found: Vec<_> = inner.blocks.iter().skip(skip).take(take).cloned().collect();
        (found.len() == take).then_some(found)
    }

    /// The block with this hash.
    pub(crate) fn by_hash(&self, hash: alloy_primitives::B256) -> Option<Arc<WarmBlock>> {
        self.0.read().blocks.iter().rev().find(|block| block.hash == hash).cloned()
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::B256;

    use super::*;

    fn block(number: u64, weight: usize) -> Arc<WarmBlock> {
        let (json, transactions, logs) = Default::default();
        Arc::new(WarmBlock {
            number,
            hash: B256::with_last_byte(number as u8),
            json,
            transactions,
            logs,
            weight,
        })
    }

    fn numbers(window: &Window, from: u64, to: u64) -> Option<Vec<u64>> {
        Some(window.range(from, to)?.iter().map(|block| block.number).collect())
    }

    #[test]
    fn a_range_is_found_whole_or_not_at_all() {
        let window = Window::default();
        (5..=8).for_each(|number| window.push(block(number, 1)));
        assert_eq!(numbers(&window, 6, 8), Some(vec![6, 7, 8]));
        assert_eq!(numbers(&window, 4, 8), None);
        assert_eq!(numbers(&window, 6, 9), None);
        assert_eq!(numbers(&window, 8, 7), None);
        assert_eq!(window.by_hash(B256::with_last_byte(7)).map(|block| block.number), Some(7));
    }

    #[test]
    fn a_gap_forgets_what_was_before_and_bytes_are_bounded() {
        let window = Window::default();
        window.push(block(5, 1));
        window.push(block(9, 1));
        assert_eq!(numbers(&window, 9, 9), Some(vec![9]));
        assert_eq!(numbers(&window, 5, 5), None);
        window.push(block(10, MAX_BYTES));
        assert_eq!(numbers(&window, 9, 9), None);
        assert_eq!(numbers(&window, 10, 10), Some(vec![10]));
    }
}
