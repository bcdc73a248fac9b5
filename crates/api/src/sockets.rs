//! The open WebSockets, which outlive the connections that are counted where they are accepted.

use std::{sync::Arc, time::Duration};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

const MOST_SOCKETS: u32 = 2_000;
/// How long they may take to say goodbye.
const FAREWELL: Duration = Duration::from_secs(3);

/// Places for WebSockets, and the word that they are to go. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Sockets {
    places: Arc<Semaphore>,
    stop: CancellationToken,
}

impl Sockets {
    /// Nobody yet; who comes is told to go when `stop` is cancelled.
    pub(crate) fn new(stop: CancellationToken) -> Self {
        Self { places: Arc::new(Semaphore::new(MOST_SOCKETS as usize)), stop }
    }

    /// A place, as long as it is kept; none when there are too many.
    pub(crate) fn take_place(&self) -> Option<OwnedSemaphorePermit> {
        self.places.clone().try_acquire_owned().ok()
    }

    /// Waits until everybody is to go.
    pub(crate) async fn told_to_go(&self) {
        self.stop.cancelled().await;
    }

    /// Waits until everybody has gone, not long.
    pub(crate) async fn see_out(&self) {
        if tokio::time::timeout(FAREWELL, self.places.acquire_many(MOST_SOCKETS)).await.is_err() {
            tracing::warn!("WebSockets were cut at the end");
        }
    }
}
