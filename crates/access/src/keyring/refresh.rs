//! Keeping the keys up to date with the database.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use store::StoreError;
use tokio::time::{Interval, MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::{Keyring, KeyringHealth, read};
use crate::millis;

/// Between two looks at the revision; a change is in force within a second.
const LOOK_EVERY: Duration = Duration::from_millis(300);
/// Between two writings of the usage.
const WRITE_EVERY: Duration = Duration::from_secs(5);
/// How long the database may take to answer a look.
const PATIENCE: Duration = Duration::from_secs(3);

impl Keyring {
    /// Follows the database and writes the usage down, until told to stop and once more then.
    pub async fn run(&self, stop: CancellationToken) {
        // Beside each other: a database that is slow to write must not keep a revoked key alive.
        tokio::join!(self.follow(&stop), self.record(&stop));
    }

    /// Tells the log once when the keys have become stale, not three times a second.
    async fn follow(&self, stop: &CancellationToken) {
        let mut looks = every(LOOK_EVERY);
        let mut was_fresh = true;
        while stop.run_until_cancelled(looks.tick()).await.is_some() {
            let failure = self.look().await.err();
            let is_fresh = self.health() == KeyringHealth::Fresh;
            match failure {
                Some(error) if was_fresh && !is_fresh => {
                    tracing::warn!(error, "the keys cannot be read; the last known ones stay in force");
                }
                Some(error) => tracing::debug!(error, "the keys could not be read"),
                None if !was_fresh => tracing::info!("the keys can be read again"),
                None => {}
            }
            was_fresh = is_fresh;
        }
    }

    async fn record(&self, stop: &CancellationToken) {
        let mut writings = every(WRITE_EVERY);
        while stop.run_until_cancelled(writings.tick()).await.is_some() {
            self.write().await;
        }
        self.write().await;
    }

    async fn look(&self) -> Result<(), String> {
        match tokio::time::timeout(PATIENCE, self.refresh()).await {
            Ok(looked) => looked.map_err(|error| error.to_string()),
            Err(_elapsed) => Err("the database does not answer in time".to_owned()),
        }
    }

    /// Brings the keys up to date if they have changed.
    pub async fn refresh(&self) -> Result<(), StoreError> {
        let asked_at = millis((self.clock)());
        let revision = self.db.key_revision().await?;
        let known = self.keys.load_full();
        if revision != known.revision {
            let set = read(&self.db, Some(&known)).await?;
            tracing::info!(revision = set.revision, keys = set.keys.len(), "the keys have changed");
            self.keys.store(Arc::new(set));
        }
        self.looked_at.store(asked_at, Ordering::Relaxed);
        Ok(())
    }

    async fn write(&self) {
        if let Err(error) = self.write_usage().await {
            tracing::warn!(%error, "the usage of keys could not be written; it is kept");
        }
    }
}

fn every(period: Duration) -> Interval {
    let mut ticks = interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}
