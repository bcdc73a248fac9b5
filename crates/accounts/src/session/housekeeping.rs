//! Forgetting challenges and sessions that nobody can use any more.

use std::time::Duration;

use store::StoreError;
use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::{Sessions, span};
use crate::millis;

/// Between two rounds.
const EVERY: Duration = Duration::from_secs(10 * 60);
/// How long a session that is over is kept, so that its owner is told that it is over and not that there was none.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

impl Sessions {
    /// Forgets old challenges and sessions now and then, until told to stop.
    pub async fn run(&self, stop: CancellationToken) {
        let mut rounds = interval(EVERY);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(rounds.tick()).await.is_some() {
            match self.forget_old().await {
                Ok(0) => {}
                Ok(forgotten) => tracing::debug!(forgotten, "old challenges and sessions are forgotten"),
                Err(error) => tracing::warn!(%error, "old challenges and sessions could not be forgotten"),
            }
        }
    }

    /// Forgets challenges that are over and sessions that have been for a day, and says how many that were.
    pub async fn forget_old(&self) -> Result<u64, StoreError> {
        let now = millis((self.clock)());
        let challenges = self.db.delete_challenges_before(now).await?;
        let sessions = self.db.delete_sessions_before(now.saturating_sub(span(KEPT))).await?;
        Ok(challenges + sessions)
    }
}
