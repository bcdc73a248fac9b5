//! When keys were last used, written down now and then: a write for every request would be more work than the request.

use std::{collections::HashMap, time::Duration};

use domain::portal::DeveloperKeyId;
use parking_lot::Mutex;
use store::StoreError;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::DeveloperKeys;

/// Between two writings.
const WRITE_EVERY: Duration = Duration::from_secs(60);
/// Keys whose use is written in one transaction.
const ROWS_AT_ONCE: usize = 500;

/// Uses that are not written down yet, in Unix milliseconds.
#[derive(Default)]
pub(super) struct Uses(Mutex<HashMap<DeveloperKeyId, u64>>);

impl Uses {
    /// Notes a use; a later one that is there stays.
    pub(super) fn note(&self, id: DeveloperKeyId, at: u64) {
        let mut uses = self.0.lock();
        let last = uses.entry(id).or_insert(at);
        *last = at.max(*last);
    }

    pub(super) fn take(&self) -> Vec<(DeveloperKeyId, u64)> {
        std::mem::take(&mut *self.0.lock()).into_iter().collect()
    }
}

impl DeveloperKeys {
    /// Writes down when keys are used, until told to stop and once more then.
    pub async fn run(&self, stop: CancellationToken) {
        let mut writings = interval(WRITE_EVERY);
        writings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(writings.tick()).await.is_some() {
            self.write().await;
        }
        self.write().await;
    }

    async fn write(&self) {
        if let Err(error) = self.write_uses().await {
            tracing::warn!(%error, "the last use of developer keys could not be written; it is kept");
        }
    }

    /// What cannot be written is kept for the next time.
    pub(super) async fn write_uses(&self) -> Result<(), StoreError> {
        let mut result = Ok(());
        for some in self.uses.take().chunks(ROWS_AT_ONCE) {
            let written = self.db.use_developer_keys(some).await;
            if written.is_err() {
                some.iter().for_each(|(id, at)| self.uses.note(*id, *at));
            }
            result = result.and(written);
        }
        result
    }
}
