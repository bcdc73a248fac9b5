//! What an operator decides about deliveries.

use std::time::Duration;

use store::portal::Portion;

use crate::schedule::PROBED_AFTER;

/// How deliveries are gone about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerSettings {
    /// Attempts under way at once, all in all.
    pub in_flight: usize,
    /// Attempts under way at once to one endpoint.
    pub in_flight_per_endpoint: usize,
    /// Endpoints that are worked on at once.
    pub endpoints: usize,
    /// Deliveries of an endpoint that are taken ahead while it is well.
    pub ahead: u32,
    /// How long what is taken belongs to who took it.
    pub lease: Duration,
    /// How often the queue is looked at when nobody rings: another process may have added to it.
    pub look_every: Duration,
    /// How long attempts under way are waited for at the end.
    pub farewell: Duration,
    /// How long deliveries that ended, and events, are kept.
    pub kept: Duration,
}

impl Default for WorkerSettings {
    fn default() -> Self {
        Self {
            in_flight: 128,
            in_flight_per_endpoint: 4,
            endpoints: 256,
            ahead: 64,
            lease: Duration::from_secs(60),
            look_every: Duration::from_secs(1),
            farewell: Duration::from_secs(5),
            kept: RETENTION,
        }
    }
}

/// How long deliveries that ended, and events, are kept.
pub const RETENTION: Duration = Duration::from_secs(30 * 24 * 3_600);

impl WorkerSettings {
    pub(crate) fn portion(&self) -> Portion {
        Portion {
            healthy: self.ahead,
            failing: u32::try_from(self.in_flight_per_endpoint).unwrap_or(u32::MAX),
            probing: 1,
            probed_after: PROBED_AFTER,
        }
    }
}

/// A span in milliseconds.
pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
