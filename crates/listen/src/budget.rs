//! How much of something is under way, by party and in all: connections, requests, bytes.

use std::{
    collections::HashMap,
    fmt,
    hash::Hash,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use ahash::RandomState;
use parking_lot::Mutex;

const SHARDS: usize = 16;

/// Bodies and answers up to this length are not charged: what a connection keeps of them anyway is bounded by its buffers.
pub(crate) const FREE_BYTES: usize = 16 * 1024;

/// Who is charged.
pub trait Party: Copy + Eq + Hash + Send + Sync + 'static {}

impl<T: Copy + Eq + Hash + Send + Sync + 'static> Party for T {}

/// Why nothing more may be under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Exhausted {
    /// The party has as much as one may have.
    #[error("one party may have no more than {0} at a time")]
    Party(usize),
    /// All parties together have too much for this one to have more.
    #[error("no more than {0} may be under way in all")]
    All(usize),
}

/// What is under way. A party that has nothing takes no memory. Cheap to clone.
pub struct Budget<K>(Arc<Accounts<K>>);

impl<K> Clone for Budget<K> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

struct Accounts<K> {
    hasher: RandomState,
    shards: [Mutex<HashMap<K, usize, RandomState>>; SHARDS],
    per_party: usize,
    total: Option<Total>,
}

/// What all parties have together.
struct Total {
    most: usize,
    used: AtomicUsize,
}

/// A part of a budget, given back when dropped.
pub struct Charge<K: Party> {
    accounts: Arc<Accounts<K>>,
    party: K,
    amount: usize,
}

impl<K: Party> Budget<K> {
    /// So much for each party, however many there are.
    pub fn per_party(most: usize) -> Self {
        Self::with(most, None)
    }

    /// So much for each party and for all together. As it becomes scarce, nobody gets more than is then left for everybody else:
    /// a few who take all they can leave something to those who come later.
    pub fn new(per_party: usize, in_all: usize) -> Self {
        Self::with(per_party, Some(Total { most: in_all, used: AtomicUsize::new(0) }))
    }

    fn with(per_party: usize, total: Option<Total>) -> Self {
        let (hasher, shards) = (RandomState::new(), Default::default());
        Self(Arc::new(Accounts { hasher, shards, per_party, total }))
    }

    /// The most that one party may have.
    pub fn most_per_party(&self) -> usize {
        self.0.per_party
    }

    /// Takes so much, unless it is too much.
    pub fn take(&self, party: K, amount: usize) -> Result<Charge<K>, Exhausted> {
        self.0.add(party, amount)?;
        Ok(Charge { accounts: Arc::clone(&self.0), party, amount })
    }

    /// Has so many bytes charged, if they are enough to be charged at all.
    pub fn cover(&self, party: K, charge: &mut Option<Charge<K>>, bytes: usize) -> Result<(), Exhausted> {
        match charge {
            Some(charge) => charge.grow_to(bytes),
            None if bytes <= FREE_BYTES => Ok(()),
            None => {
                *charge = Some(self.take(party, bytes)?);
                Ok(())
            }
        }
    }
}

impl<K: Party> Charge<K> {
    /// Takes what is missing.
    fn grow_to(&mut self, amount: usize) -> Result<(), Exhausted> {
        if amount > self.amount {
            self.accounts.add(self.party, amount - self.amount)?;
            self.amount = amount;
        }
        Ok(())
    }
}

impl<K: Party> fmt::Debug for Charge<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Charge").field("amount", &self.amount).finish_non_exhaustive()
    }
}

impl<K: Party> Drop for Charge<K> {
    fn drop(&mut self) {
        self.accounts.subtract(self.party, self.amount);
    }
}

impl<K: Party> Accounts<K> {
    fn add(&self, party: K, more: usize) -> Result<(), Exhausted> {
        let mut held = self.shard(&party).lock();
        let mine = held.get(&party).copied().unwrap_or_default().saturating_add(more);
        if mine > self.per_party {
            return Err(Exhausted::Party(self.per_party));
        }
        if let Some(Total { most, used }) = &self.total {
            let add = |used: usize| {
                let used = used.saturating_add(more);
                most.checked_sub(used).filter(|left| mine <= *left).map(|_| used)
            };
            let added = used.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add);
            added.map_err(|_| Exhausted::All(*most))?;
        }
        held.insert(party, mine);
        Ok(())
    }

    fn subtract(&self, party: K, amount: usize) {
        if let Some(total) = &self.total {
            total.used.fetch_sub(amount, Ordering::Relaxed);
        }
        let mut held = self.shard(&party).lock();
        if let Some(mine) = held.get_mut(&party) {
            *mine -= amount;
            if *mine == 0 {
                held.remove(&party);
            }
        }
    }

    fn shard(&self, party: &K) -> &Mutex<HashMap<K, usize, RandomState>> {
        let [first, ..] = &self.shards;
        let index = usize::try_from(self.hasher.hash_one(party) % SHARDS as u64).unwrap_or(0);
        self.shards.get(index).unwrap_or(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_empty(budget: &Budget<char>) -> bool {
        let nobody = budget.0.shards.iter().all(|shard| shard.lock().is_empty());
        nobody && budget.0.total.as_ref().is_none_or(|total| total.used.load(Ordering::Relaxed) == 0)
    }

    #[test]
    fn a_party_gets_its_share_and_no_more_until_it_gives_something_back() {
        let budget = Budget::per_party(2);
        let (one, two) = (budget.take('a', 1).expect("one"), budget.take('a', 1).expect("two"));
        assert_eq!(budget.take('a', 1).err(), Some(Exhausted::Party(2)));
        assert!(budget.take('b', 2).is_ok(), "others are not concerned");
        drop(one);
        let three = budget.take('a', 1).expect("one given back");
        drop((two, three));
        assert!(is_empty(&budget));
    }

    #[test]
    fn those_who_take_all_they_can_leave_something_to_those_who_come_later() {
        let budget = Budget::new(40, 100);
        let greedy = [budget.take('a', 40), budget.take('b', 30), budget.take('c', 15)];
        assert!(greedy.iter().all(Result::is_ok));
        assert_eq!(budget.take('d', 8).err(), Some(Exhausted::All(100)));
        assert_eq!(budget.take('b', 1).err(), Some(Exhausted::All(100)));
        let late = budget.take('d', 7).expect("half of the rest");
        drop((greedy, late));
        assert!(is_empty(&budget));
    }

    #[test]
    fn short_messages_are_free_and_long_ones_are_charged_as_they_grow() {
        let budget = Budget::new(3 * FREE_BYTES, usize::MAX);
        let mut charge = None;
        assert!(budget.cover('a', &mut charge, FREE_BYTES).is_ok() && charge.is_none());
        assert!(budget.cover('a', &mut charge, 2 * FREE_BYTES).is_ok());
        assert!(budget.cover('a', &mut charge, FREE_BYTES).is_ok(), "what is charged stays charged");
        assert!(budget.take('a', FREE_BYTES + 1).is_err());
        assert!(budget.cover('a', &mut charge, 3 * FREE_BYTES).is_ok());
        assert!(budget.cover('a', &mut charge, 3 * FREE_BYTES + 1).is_err());
        drop(charge);
        assert!(is_empty(&budget));
    }
}
