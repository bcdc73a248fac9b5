//! Keeping house: how long the queue is, and forgetting what is old.

use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;

use super::{WorkerParts, unix_millis};
use crate::settings::millis;

/// How often the queue is measured.
const MEASURED_EVERY: Duration = Duration::from_secs(10);
/// How often old rows are looked for.
const PRUNED_EVERY: Duration = Duration::from_secs(3_600);

/// Keeps house until it is stopped.
pub(super) async fn keep(parts: WorkerParts, stop: CancellationToken) {
    let mut tick = interval(MEASURED_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut pruned_at = 0;
    loop {
        tokio::select! {
            () = stop.cancelled() => break,
            _ = tick.tick() => {}
        }
        let now = unix_millis((parts.clock)());
        measure(&parts, now).await;
        if now.saturating_sub(pruned_at) >= millis(PRUNED_EVERY) {
            pruned_at = now;
            prune(&parts, now).await;
        }
    }
}

async fn measure(parts: &WorkerParts, now: u64) {
    // What the worker itself says of a database that fails is enough.
    let Ok((queued, due)) = parts.db.delivery_backlog().await else { return };
    let overdue = due.map_or(0, |due| now.saturating_sub(due) / 1_000);
    parts.metrics.queued.set(i64::try_from(queued).unwrap_or(i64::MAX));
    parts.metrics.oldest_due.set(i64::try_from(overdue).unwrap_or(i64::MAX));
}

async fn prune(parts: &WorkerParts, now: u64) {
    let before = now.saturating_sub(millis(parts.settings.kept));
    loop {
        match parts.db.prune_deliveries(before, now).await {
            Ok(true) => tokio::task::yield_now().await,
            Ok(false) => break,
            Err(error) => {
                tracing::warn!(%error, "old webhook deliveries could not be deleted");
                break;
            }
        }
    }
}
