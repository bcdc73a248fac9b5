//! How often somebody may ask.
//!
//! So much a minute is at most so much in any 60 seconds, here and in all processes that share their limits together. [`Limiter`]
//! is the gateway's: per key and per client. [`UniformLimiter`] is for edges where every client has the same limit.

mod local;
mod shared;
mod table;
mod uniform;
mod window;

use std::{num::NonZeroU32, sync::Arc, time::Duration};

use domain::KeyId;
use jiff::Timestamp;

use crate::{Client, Clock};

pub use shared::{Leaser, SharedLimitsError};
pub use uniform::{Counted, Counting, UniformLimiter};

use local::LocalLimiter;
use shared::SharedLimiter;

/// Units in a minute for each request in a minute: the budget of heavy methods.
const UNITS_PER_REQUEST: NonZeroU32 = NonZeroU32::new(5).unwrap();

/// Who is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Whoever asks without a key, by address.
    Client(Client),
    /// A key, from wherever it is used.
    Key(KeyId),
    /// Whoever is counted for one purpose among others.
    Counted {
        /// The purpose.
        purpose: &'static str,
        /// Who, among those that are counted for it.
        number: u128,
    },
}

/// What a subject may use in a minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    requests: NonZeroU32,
}

/// What is counted. Every request counts once; one of a heavy method also costs units.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Meter {
    /// Requests.
    Requests,
    /// Units of heavy methods.
    Units,
}

/// What a limiter says to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowance {
    /// Whether the request may pass.
    pub is_granted: bool,
    /// The meter that refuses, or else the one of requests. The figures below are its.
    pub meter: Meter,
    /// What may be used in a minute.
    pub limit: u32,
    /// What is left now.
    pub remaining: u32,
    /// How long until the request would pass; zero if it does.
    pub retry_after: Duration,
    /// How long until something that was used is there again; for who is refused the same as `retry_after`.
    pub reset_after: Duration,
}

impl Quota {
    /// So many requests in a minute, and units in proportion.
    pub const fn per_minute(requests: NonZeroU32) -> Self {
        Self { requests }
    }

    const fn of(self, meter: Meter) -> NonZeroU32 {
        match meter {
            Meter::Requests => self.requests,
            Meter::Units => self.requests.saturating_mul(UNITS_PER_REQUEST),
        }
    }
}

impl Meter {
    /// The name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Units => "units",
        }
    }
}

impl Allowance {
    /// [`Self::retry_after`] in whole seconds, for `Retry-After`: at least one if the request is refused.
    pub fn retry_seconds(&self) -> u64 {
        whole_seconds(self.retry_after)
    }

    /// [`Self::reset_after`] in whole seconds, for `RateLimit-Reset`.
    pub fn reset_seconds(&self) -> u64 {
        whole_seconds(self.reset_after)
    }
}

fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}

/// Counts requests and units per subject, at once and in memory.
///
/// A subject may use its whole limit in one instant; what was used is there again a minute later.
#[derive(Clone)]
pub struct Limiter(Kind);

#[derive(Clone)]
enum Kind {
    Local(Arc<LocalLimiter>),
    Shared(Arc<SharedLimiter>),
}

/// Whom a limiter shares its limits with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Nobody.
    Alone,
    /// So many processes, this one included.
    Shared {
        /// How many.
        replicas: u32,
    },
    /// Redis is gone: this process has its part of the limits.
    Lost {
        /// How many there were, as far as is known.
        replicas: u32,
    },
}

impl Limiter {
    /// A limiter whose limits hold for this process.
    pub fn local() -> Self {
        Self(Kind::Local(Arc::new(LocalLimiter::new())))
    }

    /// A limiter whose limits hold for all processes with the same Redis and namespace, and the task that makes them do.
    pub fn shared(url: &str, namespace: &str, clock: Clock) -> Result<(Self, Leaser), SharedLimitsError> {
        let (limiter, leaser) = Leaser::new(url, namespace, clock)?;
        Ok((Self(Kind::Shared(limiter)), leaser))
    }

    /// Counts one request of a method that costs so much: 0 and 1 for an ordinary one, more for a heavy one.
    ///
    /// A request that is refused uses nothing.
    pub fn take(&self, subject: Subject, quota: Quota, cost: u32, now: Timestamp) -> Allowance {
        let now = window::milliseconds(now);
        match &self.0 {
            Kind::Local(limiter) => limiter.take(subject, quota, cost, now),
            Kind::Shared(limiter) => limiter.take(subject, quota, cost, now),
        }
    }

    /// To be called before a batch is counted: so many requests, of which the heavy ones cost so many units together.
    ///
    /// Where limits are shared and what is at hand does not suffice, it waits for more, 750 ms at most. Otherwise it does
    /// nothing. Without it the limits hold too, but a batch fetches what it needs bit by bit.
    pub async fn prepare(&self, subject: Subject, quota: Quota, requests: u32, units: u32, now: Timestamp) {
        match &self.0 {
            Kind::Local(_) => {}
            Kind::Shared(limiter) => {
                limiter.prepare(subject, quota, requests, units, window::milliseconds(now)).await;
            }
        }
    }

    /// The same, but where limits are shared and more than what is at hand is on its way, it waits for that before it
    /// refuses, 750 ms at most.
    pub async fn take_in_time(&self, subject: Subject, quota: Quota, cost: u32, now: Timestamp) -> Allowance {
        let now = window::milliseconds(now);
        match &self.0 {
            Kind::Local(limiter) => limiter.take(subject, quota, cost, now),
            Kind::Shared(limiter) => limiter.take_in_time(subject, quota, cost, now).await,
        }
    }

    /// Whom the limits are shared with.
    pub fn sharing(&self) -> Sharing {
        match &self.0 {
            Kind::Local(_) => Sharing::Alone,
            Kind::Shared(limiter) => limiter.sharing(),
        }
    }
}

/// What a method costs in units: ordinary ones are free of them.
const fn units(cost: u32) -> u32 {
    if cost > 1 { cost } else { 0 }
}

#[cfg(test)]
mod tests;
