//! Filters that callers install and poll.

use std::time::Duration;

use alloy_primitives::map::HashMap;
use alloy_rpc_types_eth::Filter;
use parking_lot::Mutex;
use tokio::time::Instant;

use super::error::RpcError;

/// What a filter collects, and from where on at the next poll.
#[derive(Debug, Clone)]
pub(crate) enum Collecting {
    /// Logs, from this block on.
    Logs { filter: Box<Filter>, next: u64 },
    /// Block hashes, from this block on.
    Blocks { next: u64 },
    /// Hashes of transactions announced after this count.
    Pending { seen: u64 },
}

struct Installed {
    collecting: Collecting,
    polled: Instant,
}

/// The installed filters. Nothing collects in them between polls, so an abandoned one costs a few bytes until
/// it expires.
pub(crate) struct Filters {
    most: usize,
    timeout: Duration,
    installed: Mutex<HashMap<u64, Installed>>,
}

impl Filters {
    pub(crate) fn new(most: usize, timeout: Duration) -> Self {
        Self { most, timeout, installed: Mutex::default() }
    }

    /// Installs a filter under a new id.
    pub(crate) fn install(&self, id: u64, collecting: Collecting) -> Result<(), RpcError> {
        let now = Instant::now();
        let mut installed = self.installed.lock();
        if installed.len() >= self.most {
            installed.retain(|_, filter| now.duration_since(filter.polled) < self.timeout);
        }
        if installed.len() >= self.most {
            return Err(RpcError::LimitReached);
        }
        installed.insert(id, Installed { collecting, polled: now });
        Ok(())
    }

    /// The filter, which counts as polled now.
    pub(crate) fn poll(&self, id: u64) -> Result<Collecting, RpcError> {
        let now = Instant::now();
        let mut installed = self.installed.lock();
        let filter = installed.get_mut(&id).ok_or(RpcError::FilterNotFound)?;
        if now.duration_since(filter.polled) >= self.timeout {
            installed.remove(&id);
            return Err(RpcError::FilterNotFound);
        }
        filter.polled = now;
        Ok(filter.collecting.clone())
    }

    /// Moves a filter on after a poll; it may have been removed meanwhile.
    pub(crate) fn advance(&self, id: u64, collecting: Collecting) {
        if let Some(filter) = self.installed.lock().get_mut(&id) {
            filter.collecting = collecting;
        }
    }

    /// Removes a filter; false if there was none.
    pub(crate) fn uninstall(&self, id: u64) -> bool {
        self.installed.lock().remove(&id).is_some()
    }
}
