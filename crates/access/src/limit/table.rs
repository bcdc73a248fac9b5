//! A bounded table of what is known of each subject. Under a flood of subjects those are forgotten that used the least;
//! never does the memory grow.

use std::{collections::HashMap, hash::Hash};

use ahash::RandomState;
use parking_lot::{Mutex, MutexGuard};

const SHARDS: usize = 16;
/// Subjects that are remembered per shard: what a map of 4,096 places holds. All shards together take about 20 MB.
pub(super) const SUBJECTS_PER_SHARD: usize = 7 * 512;

/// What is known of a subject.
pub(super) trait Record: Default {
    /// Until when it matters.
    fn matters_until(&self) -> u64;

    /// How much was used: who used more is remembered rather than who used less.
    fn used(&self) -> u32;
}

/// The records of some subjects. Who asks is looked up with every request, and strangers choose what is hashed: quick, with a key
/// of this process.
type Records<K, V> = HashMap<K, V, RandomState>;

/// Records by subject, behind several locks.
pub(super) struct Table<K, V> {
    hasher: RandomState,
    shards: [Mutex<Records<K, V>>; SHARDS],
    /// A record that says it matters longer than this was written by a clock that was set back since.
    longest: u64,
}

impl<K: Copy + Eq + Hash, V: Record> Table<K, V> {
    pub(super) fn new(longest: u64) -> Self {
        Self { hasher: RandomState::new(), shards: Default::default(), longest }
    }

    /// Works on the record of a subject, a new one if there is none.
    pub(super) fn with<R>(&self, subject: K, now: u64, work: impl FnOnce(&mut V) -> R) -> R {
        let mut records = self.shard(&subject).lock();
        if records.len() >= SUBJECTS_PER_SHARD && !records.contains_key(&subject) {
            self.make_room(&mut records, now);
        }
        work(records.entry(subject).or_default())
    }

    /// Works on the record of a subject that is known.
    pub(super) fn with_known<R>(&self, subject: K, work: impl FnOnce(&mut V) -> R) -> Option<R> {
        self.shard(&subject).lock().get_mut(&subject).map(work)
    }

    /// The shards one after the other, each locked while it is looked at.
    pub(super) fn shards(&self) -> impl Iterator<Item = MutexGuard<'_, Records<K, V>>> {
        self.shards.iter().map(Mutex::lock)
    }

    fn shard(&self, subject: &K) -> &Mutex<Records<K, V>> {
        let [first, ..] = &self.shards;
        let place = usize::try_from(self.hasher.hash_one(subject) % SHARDS as u64).unwrap_or(0);
        self.shards.get(place).unwrap_or(first)
    }

    /// Forgets records that do not matter any more, or else the half that used least.
    fn make_room(&self, records: &mut Records<K, V>, now: u64) {
        let latest = now.saturating_add(self.longest);
        records.retain(|_, record| (now..=latest).contains(&record.matters_until()));
        if records.len() < SUBJECTS_PER_SHARD {
            return;
        }
        let mut amounts: Vec<u32> = records.values().map(Record::used).collect();
        let middle = amounts.len() / 2;
        let (_, median, _) = amounts.select_nth_unstable(middle);
        let median = *median;
        records.retain(|_, record| record.used() > median);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Until(u64, u32);

    impl Record for Until {
        fn matters_until(&self) -> u64 {
            self.0
        }

        fn used(&self) -> u32 {
            self.1
        }
    }

    fn size(table: &Table<u32, Until>) -> usize {
        table.shards().map(|shard| shard.len()).sum()
    }

    #[test]
    fn a_flood_of_subjects_does_not_grow_the_table_and_spares_who_used_most() {
        let table = Table::new(1_000);
        table.with(u32::MAX, 0, |record: &mut Until| *record = Until(900, 300));
        for subject in 0..500_000 {
            table.with(subject, 1, |record| *record = Until(950, 2 + subject % 7));
        }
        assert!(size(&table) <= SHARDS * SUBJECTS_PER_SHARD);
        assert_eq!(table.with_known(u32::MAX, |record| record.0), Some(900));
    }

    #[test]
    fn records_of_a_clock_that_was_set_back_are_the_first_to_go() {
        let table = Table::new(1_000);
        for subject in 0..200_000 {
            table.with(subject, 1_000_000, |record: &mut Until| record.0 = 1_000_500);
        }
        for subject in 0..200_000 {
            table.with(1_000_000 + subject, 0, |record| record.0 = 500);
        }
        let stale: usize = table.shards().map(|shard| shard.values().filter(|r| r.0 > 1_000).count()).sum();
        assert_eq!(stale, 0);
    }
}
