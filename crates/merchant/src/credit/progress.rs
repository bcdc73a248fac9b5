//! How far crediting is, for those who wait for it.

use std::{sync::Arc, time::Duration};

use parking_lot::Mutex;
use store::{Db, portal::CreditPoint};
use tokio::sync::watch;

/// How often the cursor is read where nobody credits.
const POLL: Duration = Duration::from_millis(100);

/// Up to where payments are credited.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Credited {
    /// The last block; none before the first.
    pub block: Option<u64>,
    /// Its time, in Unix milliseconds.
    pub time: u64,
}

impl From<Option<CreditPoint>> for Credited {
    fn from(point: Option<CreditPoint>) -> Self {
        Self { block: point.map(|point| point.number), time: point.map_or(0, |point| point.time) }
    }
}

/// Tells how far crediting is, in this process or in another. Cheap to clone.
#[derive(Clone)]
pub struct CreditProgress(Source);

#[derive(Clone)]
enum Source {
    Worker(watch::Receiver<Credited>),
    Poll(Arc<Poll>),
}

struct Poll {
    db: Db,
    progress: watch::Sender<Credited>,
    is_running: Mutex<bool>,
}

impl CreditProgress {
    /// Of a worker in this process, [`crate::Crediting::credited`].
    pub fn follow(worker: watch::Receiver<Credited>) -> Self {
        Self(Source::Worker(worker))
    }

    /// Of a worker in another process: the database is asked ten times a second, while somebody waits.
    pub fn poll(db: Db) -> Self {
        let progress = watch::Sender::new(Credited::default());
        Self(Source::Poll(Arc::new(Poll { db, progress, is_running: Mutex::new(false) })))
    }

    /// How far crediting is, now and from now on.
    pub fn subscribe(&self) -> watch::Receiver<Credited> {
        match &self.0 {
            Source::Worker(progress) => progress.clone(),
            Source::Poll(poll) => poll.subscribe(),
        }
    }
}

impl Poll {
    fn subscribe(self: &Arc<Self>) -> watch::Receiver<Credited> {
        let mut is_running = self.is_running.lock();
        let receiver = self.progress.subscribe();
        if !*is_running {
            *is_running = true;
            tokio::spawn(Arc::clone(self).run());
        }
        receiver
    }

    async fn run(self: Arc<Self>) {
        loop {
            match self.db.credit_point().await {
                Ok(point) => {
                    let credited = Credited::from(point);
                    self.progress.send_if_modified(|last| std::mem::replace(last, credited) != credited);
                }
                // Whoever waits has a limit of its own.
                Err(error) => tracing::debug!(%error, "the credit cursor cannot be read"),
            }
            tokio::time::sleep(POLL).await;
            let mut is_running = self.is_running.lock();
            if self.progress.receiver_count() == 0 {
                *is_running = false;
                return;
            }
        }
    }
}
