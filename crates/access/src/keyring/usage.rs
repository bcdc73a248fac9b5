//! Counting what keys are used for, and writing it down now and then.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use store::{KeyUsage, KeyUsageRow, StoreError};

use super::Keyring;
use crate::millis;

const DAY_MS: u64 = 86_400_000;
/// Keys whose usage is written in one transaction.
const ROWS_AT_ONCE: usize = 500;

/// What a key was used for since it was last written down.
#[derive(Debug, Default)]
pub struct UsageCounter {
    requests: AtomicU64,
    denied: AtomicU64,
    units: AtomicU64,
}

impl UsageCounter {
    /// Counts a request that passes, with the units it costs.
    pub fn count(&self, units: u32) {
        self.requests.fetch_add(1, Ordering::Relaxed);
        self.units.fetch_add(u64::from(units), Ordering::Relaxed);
    }

    /// Counts a request that is refused although the key is good.
    pub fn count_denied(&self) {
        self.denied.fetch_add(1, Ordering::Relaxed);
    }

    fn take(&self) -> KeyUsage {
        KeyUsage {
            requests: self.requests.swap(0, Ordering::Relaxed),
            denied: self.denied.swap(0, Ordering::Relaxed),
            units: self.units.swap(0, Ordering::Relaxed),
        }
    }

    fn put_back(&self, usage: KeyUsage) {
        self.requests.fetch_add(usage.requests, Ordering::Relaxed);
        self.denied.fetch_add(usage.denied, Ordering::Relaxed);
        self.units.fetch_add(usage.units, Ordering::Relaxed);
    }
}

impl Keyring {
    /// Writes down what was counted, on the day it is now. What cannot be written is kept for the next time.
    pub(super) async fn write_usage(&self) -> Result<(), StoreError> {
        let day = millis((self.clock)()) / DAY_MS;
        let mut taken = Vec::new();
        for key in self.keys.load().keys.values() {
            let usage = key.grant.usage.take();
            if usage != KeyUsage::default() {
                taken.push((key.grant.usage.clone(), KeyUsageRow { key: key.grant.id, day, usage }));
            }
        }
        let mut result = Ok(());
        for some in taken.chunks(ROWS_AT_ONCE) {
            result = result.and(self.write_some(some).await);
        }
        result
    }

    async fn write_some(&self, taken: &[(Arc<UsageCounter>, KeyUsageRow)]) -> Result<(), StoreError> {
        let rows: Vec<_> = taken.iter().map(|(_, row)| row.clone()).collect();
        let written = self.db.add_key_usage(&rows).await;
        if written.is_err() {
            for (counter, row) in taken {
                counter.put_back(row.usage);
            }
        }
        written
    }
}
