//! How much of something one party has at a time: requests under way, open connections, streams.

use std::{collections::HashMap, hash::Hash, ops::Deref, sync::Arc};

use ahash::RandomState;
use parking_lot::Mutex;

const SHARDS: usize = 16;

/// Counts by party. A party that has nothing takes no memory.
pub struct Permits<K> {
    hasher: RandomState,
    shards: [Mutex<HashMap<K, usize, RandomState>>; SHARDS],
    most: usize,
}

/// One permit, given back when dropped. `P` is how it refers to all of them.
pub struct Permit<K: Copy + Eq + Hash, P: Deref<Target = Permits<K>>> {
    permits: P,
    party: K,
}

/// A permit that outlives the scope it was taken in.
pub type OwnedPermit<K> = Permit<K, Arc<Permits<K>>>;

impl<K: Copy + Eq + Hash> Permits<K> {
    /// So many for each party.
    pub fn new(most: usize) -> Self {
        Self { hasher: RandomState::new(), shards: Default::default(), most }
    }

    /// The most that one party may have.
    pub fn most(&self) -> usize {
        self.most
    }

    /// A permit, unless the party has as many as it may.
    pub fn take(&self, party: K) -> Option<Permit<K, &Self>> {
        self.count(party).then(|| Permit { permits: self, party })
    }

    /// The same, to be kept for long.
    pub fn take_owned(self: &Arc<Self>, party: K) -> Option<OwnedPermit<K>> {
        self.count(party).then(|| Permit { permits: Arc::clone(self), party })
    }

    fn count(&self, party: K) -> bool {
        let mut counts = self.shard(&party).lock();
        let count = counts.entry(party).or_default();
        let is_free = *count < self.most;
        *count += usize::from(is_free);
        is_free
    }

    fn shard(&self, party: &K) -> &Mutex<HashMap<K, usize, RandomState>> {
        let [first, ..] = &self.shards;
        let index = usize::try_from(self.hasher.hash_one(party) % SHARDS as u64).unwrap_or(0);
        self.shards.get(index).unwrap_or(first)
    }
}

impl<K: Copy + Eq + Hash, P: Deref<Target = Permits<K>>> Drop for Permit<K, P> {
    fn drop(&mut self) {
        let mut counts = self.permits.shard(&self.party).lock();
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
    fn a_party_gets_its_permits_and_no_more_until_it_gives_one_back() {
        let permits = Arc::new(Permits::new(2));
        let (one, two) = (permits.take('a').expect("one"), permits.take_owned('a').expect("two"));
        assert!(permits.take('a').is_none() && permits.take_owned('a').is_none());
        assert!(permits.take('b').is_some(), "others are not concerned");
        drop(one);
        let three = permits.take('a').expect("one given back");
        drop((two, three));
        assert!(permits.shards.iter().all(|shard| shard.lock().is_empty()));
    }
}
