//! Filters that callers install and poll, kept by the gateway so that they never touch a node's tables.
//!
//! A filter is what it collects and where the next poll goes on. Nothing is collected between polls: a poll looks at the
//! blocks since the last one. That little state is kept in the process, or in Redis where several replicas answer, so
//! that any of them can answer any poll. A filter belongs to the caller who installed it and is forgotten after five
//! minutes without a poll.

mod calls;
mod changes;
mod installed;
mod memory;
mod redis;

use std::{sync::Arc, time::Duration};

use access::Clock;
use async_trait::async_trait;

pub use self::redis::{RedisFilters, RedisFiltersError};
use self::{
    installed::{FilterId, Installed},
    memory::MemoryFilters,
};
use crate::refusal::Refusal;

/// How long a filter lives without being polled.
const LIFETIME: Duration = Duration::from_secs(5 * 60);
/// Filters of one caller.
const MOST_OF_ONE: usize = 64;
/// Filters of all callers.
const MOST_OF_ALL: usize = 4096;

/// Why the filters cannot be reached.
#[derive(Debug, thiserror::Error)]
#[error("the filters cannot be reached")]
pub(crate) struct Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>);

/// Why a filter is not installed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InstallError {
    #[error("there are {most} filters already")]
    TooMany { most: usize },
    #[error(transparent)]
    Unreachable(#[from] Unreachable),
}

/// Where filters are kept.
#[async_trait]
pub(crate) trait FilterStore: Send + Sync + 'static {
    /// Keeps a new filter.
    async fn install(&self, id: FilterId, filter: Installed) -> Result<(), InstallError>;

    /// A filter, unless it has expired.
    async fn find(&self, id: FilterId) -> Result<Option<Installed>, Unreachable>;

    /// Replaces a filter that was not polled since it was found, and lets it live on; whether that was so.
    async fn advance(&self, id: FilterId, found: &Installed, next: Installed) -> Result<bool, Unreachable>;

    /// Forgets a filter.
    async fn remove(&self, id: FilterId, filter: &Installed) -> Result<(), Unreachable>;
}

/// The filters of all callers.
pub(crate) struct Filters {
    store: Arc<dyn FilterStore>,
}

impl Filters {
    /// Filters that are kept in the process.
    pub(crate) fn in_memory(clock: Clock) -> Self {
        Self { store: Arc::new(MemoryFilters::new(clock)) }
    }

    /// Filters that all replicas share.
    pub(crate) fn in_redis(filters: RedisFilters) -> Self {
        Self { store: Arc::new(filters) }
    }
}

impl From<Unreachable> for Refusal {
    fn from(error: Unreachable) -> Self {
        tracing::warn!(cause = error.0.to_string(), "the filters cannot be reached");
        Self::Unavailable { reason: "filters_unavailable" }
    }
}

impl From<InstallError> for Refusal {
    fn from(error: InstallError) -> Self {
        match error {
            InstallError::TooMany { most } => Self::TooMany { what: "too_many_filters", most },
            InstallError::Unreachable(error) => error.into(),
        }
    }
}
