//! How much of something one party has at a time: requests under way, open connections.

use std::{collections::HashMap, hash::Hash};

use ahash::RandomState;
use parking_lot::Mutex;

const SHARDS: usize = 16;

/// Counts by party. A party that has nothing takes no memory.
pub(crate) struct Places<K> {
    hasher: RandomState,
    shards: [Mutex<HashMap<K, usize, RandomState>>; SHARDS],
    most: usize,
}

/// One place, given back when dropped.
pub(crate) struct Place<'a, K: Copy + Eq + Hash> {
    places: &'a Places<K>,
    party: K,
}

impl<K: Copy + Eq + Hash> Places<K> {
    pub(crate) fn new(most: usize) -> Self {
        Self { hasher: RandomState::new(), shards: Default::default(), most }
    }

    /// The most that one party may have.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// A place, unless the party has as many as it may.
    pub(crate) fn take(&self, party: K) -> Option<Place<'_, K>> {
        let mut counts = self.shard(&party).lock();
        let count = counts.entry(party).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Place { places: self, party })
    }

    fn shard(&self, party: &K) -> &Mutex<HashMap<K, usize, RandomState>> {
        let [first, ..] = &self.shards;
        let index = usize::try_from(self.hasher.hash_one(party) % SHARDS as u64).unwrap_or(0);
        self.shards.get(index).unwrap_or(first)
    }
}

impl<K: Copy + Eq + Hash> Drop for Place<'_, K> {
    fn drop(&mut self) {
        let mut counts = self.places.shard(&self.party).lock();
        if let Some(count) = counts.get_mut(&self.party) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&self.party);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_party_gets_its_places_and_no_more_until_it_gives_one_back() {
        let places = Places::new(2);
        let (one, two) = (places.take('a').expect("one"), places.take('a').expect("two"));
        assert!(places.take('a').is_none());
        assert!(places.take('b').is_some(), "others are not concerned");
        drop(one);
        let three = places.take('a').expect("one given back");
        drop((two, three));
        assert!(places.shards.iter().all(|shard| shard.lock().is_empty()));
    }
}
