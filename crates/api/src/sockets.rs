//! The open WebSockets, which outlive the connections that are counted where they are accepted.

use std::{sync::Arc, time::Duration};

use access::Client;
use listen::{Budget, Charge};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;

/// WebSockets at a time, and of one client.
const MOST_SOCKETS: u32 = 2_000;
const MOST_OF_CLIENT: usize = 100;
/// How long they may take to say goodbye.
const FAREWELL: Duration = Duration::from_secs(3);

/// A WebSocket's permit among all, and among those of its client.
pub(crate) type SocketPermit = (OwnedSemaphorePermit, Charge<Client>);

/// Places for WebSockets, and the word that they are to go. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Sockets {
    places: Arc<Semaphore>,
    clients: Budget<Client>,
    stop: CancellationToken,
}

impl Sockets {
    /// Nobody yet; who comes is told to go when `stop` is cancelled.
    pub(crate) fn new(stop: CancellationToken) -> Self {
        let places = Arc::new(Semaphore::new(MOST_SOCKETS as usize));
        Self { places, clients: Budget::per_party(MOST_OF_CLIENT), stop }
    }

    /// A place, as long as it is kept; none when there are too many, in all or of this client.
    pub(crate) fn take_place(&self, client: Client) -> Option<SocketPermit> {
        Some((self.places.clone().try_acquire_owned().ok()?, self.clients.take(client, 1).ok()?))
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
