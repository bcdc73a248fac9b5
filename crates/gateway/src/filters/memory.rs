//! Filters in the process, for a gateway that runs alone.

use access::Clock;
use alloy_primitives::map::HashMap;
use async_trait::async_trait;
use jiff::Timestamp;
use parking_lot::Mutex;

use super::{
    FilterStore, InstallError, LIFETIME, MOST_OF_ALL, MOST_OF_ONE, Unreachable,
    installed::{FilterId, Installed},
};

struct Entry {
    filter: Installed,
    polled: Timestamp,
}

impl Entry {
    fn is_alive(&self, now: Timestamp) -> bool {
        now.duration_since(self.polled).unsigned_abs() < LIFETIME
    }
}

#[derive(Default)]
struct Entries {
    by_id: HashMap<FilterId, Entry>,
    /// How many each caller has.
    by_owner: HashMap<String, usize>,
}

/// Filters in a bounded table.
pub(super) struct MemoryFilters {
    clock: Clock,
    entries: Mutex<Entries>,
}

impl MemoryFilters {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, entries: Mutex::default() }
    }

    fn now(&self) -> Timestamp {
        (self.clock)()
    }
}

impl Entries {
    fn owned(&self, owner: &str) -> usize {
        self.by_owner.get(owner).copied().unwrap_or_default()
    }

    fn remove(&mut self, id: FilterId) {
        let Some(entry) = self.by_id.remove(&id) else { return };
        if let Some(count) = self.by_owner.get_mut(&entry.filter.owner) {
            *count -= 1;
            if *count == 0 {
                self.by_owner.remove(&entry.filter.owner);
            }
        }
    }

    fn remove_expired(&mut self, now: Timestamp) {
        let expired = self.by_id.iter().filter(|(_, entry)| !entry.is_alive(now));
        for id in expired.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.remove(id);
        }
    }
}

#[async_trait]
impl FilterStore for MemoryFilters {
    async fn install(&self, id: FilterId, filter: Installed) -> Result<(), InstallError> {
        let now = self.now();
        let mut entries = self.entries.lock();
        if entries.by_id.len() >= MOST_OF_ALL || entries.owned(&filter.owner) >= MOST_OF_ONE {
            entries.remove_expired(now);
        }
        if entries.owned(&filter.owner) >= MOST_OF_ONE {
            return Err(InstallError::TooMany { most: MOST_OF_ONE });
        }
        if entries.by_id.len() >= MOST_OF_ALL {
            return Err(InstallError::TooMany { most: MOST_OF_ALL });
        }
        *entries.by_owner.entry(filter.owner.clone()).or_default() += 1;
        entries.by_id.insert(id, Entry { filter, polled: now });
        Ok(())
    }

    async fn find(&self, id: FilterId) -> Result<Option<Installed>, Unreachable> {
        let now = self.now();
        let entries = self.entries.lock();
        let entry = entries.by_id.get(&id).filter(|entry| entry.is_alive(now));
        Ok(entry.map(|entry| entry.filter.clone()))
    }

    async fn advance(&self, id: FilterId, found: &Installed, next: Installed) -> Result<bool, Unreachable> {
        let polled = self.now();
        let mut entries = self.entries.lock();
        let Some(entry) = entries.by_id.get_mut(&id).filter(|entry| entry.filter.polls == found.polls) else {
            return Ok(false);
        };
        *entry = Entry { filter: next, polled };
        Ok(true)
    }

    async fn remove(&self, id: FilterId, _: &Installed) -> Result<(), Unreachable> {
        self.entries.lock().remove(id);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicI64, Ordering},
        },
        time::Duration,
    };

    use super::*;
    use crate::filters::installed::Collecting;

    /// Filters, and the time in milliseconds.
    fn filters() -> (MemoryFilters, Arc<AtomicI64>) {
        let time = Arc::new(AtomicI64::new(0));
        let clock = Arc::clone(&time);
        let now = move || Timestamp::from_millisecond(clock.load(Ordering::Relaxed)).expect("a time");
        (MemoryFilters::new(Arc::new(now)), time)
    }

    fn advance(time: &AtomicI64, by: Duration) {
        time.fetch_add(by.as_millis() as i64, Ordering::Relaxed);
    }

    fn filter(owner: &str, next: u64) -> Installed {
        Installed { owner: owner.to_owned(), polls: next, collecting: Collecting::Blocks { next } }
    }

    #[tokio::test]
    async fn a_filter_lives_as_long_as_it_is_polled() {
        let (filters, time) = filters();
        let id = FilterId::random();
        filters.install(id, filter("a", 1)).await.expect("room");
        for next in 1..5 {
            advance(&time, LIFETIME * 3 / 4);
            let found = filters.find(id).await.expect("reachable").expect("alive");
            assert!(filters.advance(id, &found, filter("a", next + 1)).await.expect("reachable"));
        }
        advance(&time, LIFETIME);
        assert_eq!(filters.find(id).await.expect("reachable"), None);
    }

    #[tokio::test]
    async fn two_polls_at_once_do_not_both_move_it() {
        let (filters, _) = filters();
        let id = FilterId::random();
        filters.install(id, filter("a", 1)).await.expect("room");
        let found = filters.find(id).await.expect("reachable").expect("alive");
        assert!(filters.advance(id, &found, filter("a", 2)).await.expect("reachable"));
        assert!(!filters.advance(id, &found, filter("a", 2)).await.expect("reachable"));
    }

    #[tokio::test]
    async fn filters_are_bounded_per_caller_and_in_total_and_expired_ones_make_room() {
        let (filters, time) = filters();
        for number in 0..MOST_OF_ALL {
            let owner = (number / MOST_OF_ONE).to_string();
            filters.install(FilterId::random(), filter(&owner, 1)).await.expect("room");
        }
        let refused = filters.install(FilterId::random(), filter("0", 1)).await;
        assert!(matches!(refused, Err(InstallError::TooMany { most: MOST_OF_ONE })));
        let refused = filters.install(FilterId::random(), filter("new", 1)).await;
        assert!(matches!(refused, Err(InstallError::TooMany { most: MOST_OF_ALL })));
        advance(&time, LIFETIME);
        filters.install(FilterId::random(), filter("new", 1)).await.expect("room again");
        assert_eq!(filters.entries.lock().by_owner.len(), 1);
    }

    #[tokio::test]
    async fn removing_makes_room() {
        let (filters, _) = filters();
        let mut ids = Vec::new();
        for _ in 0..MOST_OF_ONE {
            ids.push(FilterId::random());
            filters.install(ids[ids.len() - 1], filter("a", 1)).await.expect("room");
        }
        assert!(filters.install(FilterId::random(), filter("a", 1)).await.is_err());
        filters.remove(ids[0], &filter("a", 1)).await.expect("reachable");
        filters.install(FilterId::random(), filter("a", 1)).await.expect("room");
    }
}
