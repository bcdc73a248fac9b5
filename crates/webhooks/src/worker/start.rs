//! Starting attempts: which endpoint is next, and the attempt itself.

use std::{panic::AssertUnwindSafe, sync::Arc};

use futures_util::FutureExt;
use jiff::Timestamp;
use tokio::time::Instant;

use super::{
    Place, Worker,
    held::{Done, Job, Target},
    unix_millis,
};
use crate::{
    sender::{SendError, Sender, headers},
    settings::millis,
};

impl Worker {
    /// Puts an endpoint in the ring of those that may have something to start.
    pub(super) fn enlist(&mut self, place: Place) {
        if let Some(held) = self.held.get_mut(&place)
            && !held.is_in_ring
        {
            held.is_in_ring = true;
            self.ring.push_back(place);
        }
    }

    /// Starts as many attempts as there are places for, one endpoint after the other.
    pub(super) fn start_attempts(&mut self) {
        let now = self.now();
        loop {
            let before = self.attempts.len();
            for _ in 0..self.ring.len() {
                if self.attempts.len() >= self.parts.settings.in_flight {
                    break;
                }
                self.start_next(now);
            }
            if self.attempts.len() == before {
                break;
            }
        }
        self.parts.metrics.in_flight.set(i64::try_from(self.attempts.len()).unwrap_or(i64::MAX));
    }

    fn start_next(&mut self, now: Timestamp) {
        let Some(place) = self.ring.pop_front() else { return };
        let Some(held) = self.held.get_mut(&place) else { return };
        let was_failing = held.has_failed();
        // Those that failed share half of the places.
        if was_failing && self.failing >= self.parts.settings.in_flight / 2 {
            self.ring.push_back(place);
            return;
        }
        held.is_in_ring = false;
        let Some(job) = held.next_job(&self.parts.settings, unix_millis(now)) else { return };
        let target = Arc::clone(&held.target);
        self.enlist(place);
        self.failing += usize::from(was_failing);
        if job.message.attempt == 1 {
            let waited = unix_millis(now).saturating_sub(job.message.delivery_id.millis());
            self.parts.metrics.left(waited as f64 / 1_000.0);
        }
        self.attempts.spawn(attempt(self.parts.sender.clone(), place, was_failing, target, job, now));
    }
}

async fn attempt(
    sender: Sender,
    place: Place,
    was_failing: bool,
    target: Arc<Target>,
    job: Job,
    at: Timestamp,
) -> Done {
    let started = Instant::now();
    let headers = headers(&job.message, &target.secrets, at);
    let sending = sender.send(&target.url, headers, job.message.body.clone(), at);
    // Whatever happens in there, the place must become free again.
    let sent = AssertUnwindSafe(sending).catch_unwind().await;
    let result = sent.unwrap_or_else(|_| Err(SendError::Broken("the attempt broke off".into())));
    let duration_ms = millis(started.elapsed());
    Done { place, was_failing, job, started_at: unix_millis(at), duration_ms, result }
}
