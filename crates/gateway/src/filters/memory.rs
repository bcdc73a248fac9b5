//! Filters in the process, for a gateway that runs alone.

use alloy_primitives::map::HashMap;
use async_trait::async_trait;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::{
    FilterStore, InstallError, LIFETIME, MOST_OF_ALL, MOST_OF_ONE, Unreachable,
    installed::{FilterId, Installed},
};

struct Entry {
    filter: Installed,
    expires: Instant,
}

#[derive(Default)]
struct Entries {
    by_id: HashMap<FilterId, Entry>,
    /// How many each caller has.
    by_owner: HashMap<String, usize>,
}

/// Filters in a bounded table.
#[derive(Default)]
pub(super) struct MemoryFilters(Mutex<Entries>);

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

    fn remove_expired(&mut self, now: Instant) {
        let expired = self.by_id.iter().filter(|(_, entry)| entry.expires <= now);
        for id in expired.map(|(id, _)| *id).collect::<Vec<_>>() {
            self.remove(id);
        }
    }
}

#[async_trait]
impl FilterStore for MemoryFilters {
    async fn install(&self, id: FilterId, filter: Installed) -> Result<(), InstallError> {
        let now = Instant::now();
        let mut entries = self.0.lock();
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
        entries.by_id.insert(id, Entry { filter, expires: now + LIFETIME });
        Ok(())
    }

    async fn find(&self, id: FilterId) -> Result<Option<Installed>, Unreachable> {
        let entries = self.0.lock();
        let entry = entries.by_id.get(&id).filter(|entry| entry.expires > Instant::now());
        Ok(entry.map(|entry| entry.filter.clone()))
    }

    async fn advance(&self, id: FilterId, found: &Installed, next: Installed) -> Result<bool, Unreachable> {
        let mut entries = self.0.lock();
        let Some(entry) = entries.by_id.get_mut(&id).filter(|entry| entry.filter.polls == found.polls) else {
            return Ok(false);
        };
        *entry = Entry { filter: next, expires: Instant::now() + LIFETIME };
        Ok(true)
    }

    async fn remove(&self, id: FilterId, _: &Installed) -> Result<(), Unreachable> {
        self.0.lock().remove(id);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::filters::installed::Collecting;

    fn filter(owner: &str, next: u64) -> Installed {
        Installed { owner: owner.to_owned(), polls: next, collecting: Collecting::Blocks { next } }
    }

    #[tokio::test(start_paused = true)]
    async fn a_filter_lives_as_long_as_it_is_polled() {
        let filters = MemoryFilters::default();
        let id = FilterId::random();
        filters.install(id, filter("a", 1)).await.expect("room");
        for next in 1..5 {
            tokio::time::advance(LIFETIME * 3 / 4).await;
            let found = filters.find(id).await.expect("reachable").expect("alive");
            assert!(filters.advance(id, &found, filter("a", next + 1)).await.expect("reachable"));
        }
        tokio::time::advance(LIFETIME).await;
        assert_eq!(filters.find(id).await.expect("reachable"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn two_polls_at_once_do_not_both_move_it() {
        let filters = MemoryFilters::default();
        let id = FilterId::random();
        filters.install(id, filter("a", 1)).await.expect("room");
        let found = filters.find(id).await.expect("reachable").expect("alive");
        assert!(filters.advance(id, &found, filter("a", 2)).await.expect("reachable"));
        assert!(!filters.advance(id, &found, filter("a", 2)).await.expect("reachable"));
    }

    #[tokio::test(start_paused = true)]
    async fn filters_are_bounded_per_caller_and_in_total_and_expired_ones_make_room() {
        let filters = MemoryFilters::default();
        for number in 0..MOST_OF_ALL {
            let owner = (number / MOST_OF_ONE).to_string();
            filters.install(FilterId::random(), filter(&owner, 1)).await.expect("room");
        }
        let refused = filters.install(FilterId::random(), filter("0", 1)).await;
        assert!(matches!(refused, Err(InstallError::TooMany { most: MOST_OF_ONE })));
        let refused = filters.install(FilterId::random(), filter("new", 1)).await;
        assert!(matches!(refused, Err(InstallError::TooMany { most: MOST_OF_ALL })));
        tokio::time::advance(LIFETIME).await;
        filters.install(FilterId::random(), filter("new", 1)).await.expect("room again");
        assert_eq!(filters.0.lock().by_owner.len(), 1);
    }

    #[tokio::test(start_paused = true)]
    async fn removing_makes_room() {
        let filters = MemoryFilters::default();
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
