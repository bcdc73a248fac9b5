//! Whether the database can be written: a full disk and a file system that became read-only answer reads as ever.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
    time::{Duration, Instant},
};

use crate::{Db, StoreError, convert::to_signed};

/// How long a verdict holds. Anybody may ask whether we are ready, and each probe writes to the disk.
const HOLDS: Duration = Duration::from_secs(5);
/// A database that takes longer is busy writing, which is a good sign.
const PATIENCE: Duration = Duration::from_secs(2);

/// The last verdict, and when there may be another one.
#[derive(Debug)]
pub(crate) struct WriteProbe {
    began: Instant,
    /// Milliseconds since then.
    next: AtomicU64,
    is_writable: AtomicBool,
}

impl Default for WriteProbe {
    fn default() -> Self {
        Self { began: Instant::now(), next: AtomicU64::new(0), is_writable: AtomicBool::new(true) }
    }
}

impl WriteProbe {
    /// Whether whoever asks now is to find out.
    fn is_due(&self) -> bool {
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let now = millis(self.began.elapsed());
        let take = |next| (next <= now).then(|| now.saturating_add(millis(HOLDS)));
        self.next.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

impl Db {
    /// Whether something could be written the last time that was tried, which is at most a few seconds ago.
    pub async fn is_writable(&self, now: u64) -> bool {
        if self.probe.is_due() {
            match tokio::time::timeout(PATIENCE, self.write_probe(now)).await {
                Ok(written) => self.probe.is_writable.store(written.is_ok(), Ordering::Relaxed),
                Err(_busy) => {}
            }
        }
        self.probe.is_writable.load(Ordering::Relaxed)
    }

    async fn write_probe(&self, now: u64) -> Result<(), StoreError> {
        let sql =
            "INSERT INTO write_probe (id, at) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET at = excluded.at";
        let now = to_signed("time", now)?;
        on_writer!(self, pool => sqlx::query(sql).bind(now).execute(pool).await.map(drop))?;
        Ok(())
    }
}
