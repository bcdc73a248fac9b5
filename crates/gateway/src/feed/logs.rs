//! The logs of a block, found by address or event without looking at all of them.

use std::sync::Arc;

use alloy_primitives::{Address, B256, map::HashMap};

use crate::{logs::LogFilter, warm::WarmBlock};

/// The logs of one block. With thousands of listeners each costs a few look-ups per block, not a look at every log.
pub(crate) struct BlockLogs {
    block: Arc<WarmBlock>,
    by_address: HashMap<Address, Vec<usize>>,
    by_event: HashMap<B256, Vec<usize>>,
}

impl BlockLogs {
    pub(crate) fn new(block: Arc<WarmBlock>) -> Self {
        let mut by_address: HashMap<Address, Vec<usize>> = HashMap::default();
        let mut by_event: HashMap<B256, Vec<usize>> = HashMap::default();
        for (position, log) in block.logs.iter().enumerate() {
            by_address.entry(log.address).or_default().push(position);
            if let Some(event) = log.topics.first() {
                by_event.entry(*event).or_default().push(position);
            }
        }
        Self { block, by_address, by_event }
    }

    /// The positions of the logs that match, in the order of the block.
    pub(crate) fn matching(&self, filter: &LogFilter) -> Vec<usize> {
        let mut found: Vec<usize> = if !filter.addresses().is_empty() {
            look_up(&self.by_address, filter.addresses())
        } else if !filter.events().is_empty() {
            look_up(&self.by_event, filter.events())
        } else {
            (0..self.block.logs.len()).collect()
        };
        found.sort_unstable();
        let is_wanted =
            |position: &usize| self.block.logs.get(*position).is_some_and(|log| filter.matches(log));
        found.retain(is_wanted);
        found
    }

    /// The JSON of the log at a position.
    pub(crate) fn json(&self, position: usize) -> Option<&str> {
        // Cut out of JSON text, so it is text.
        self.block.logs.get(position).and_then(|log| std::str::from_utf8(&log.json).ok())
    }
}

fn look_up<K: std::hash::Hash + Eq>(index: &HashMap<K, Vec<usize>>, keys: &[K]) -> Vec<usize> {
    keys.iter().filter_map(|key| index.get(key)).flatten().copied().collect()
}
