//! Who may connect: so many in all, and so many of one client; and how many requests of one client are answered at a time.

use std::{collections::HashMap, net::IpAddr, sync::Arc, time::Duration};

use access::{Client, is_trusted_proxy};
use bytes::Bytes;
use parking_lot::Mutex;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit},
};

use super::ConnectionLimits;
use crate::{code::Code, problem::Problem};

/// How long answers under way may take once the end has begun.
const DRAIN_TIME_LIMIT: Duration = Duration::from_secs(10);
/// Connections at a time that are told why they are not served; beyond them they are just closed.
const MOST_REFUSALS: usize = 64;
/// How long such a connection may take.
const REFUSAL_TIME_LIMIT: Duration = Duration::from_secs(1);

/// Requests of one client that are answered at a time; more wait until it is their turn. So whoever asks waits behind so many of each
/// other client, and not behind all that they have sent on all their connections.
pub(super) const MAX_CONCURRENT_REQUESTS: usize = 32;

/// Who may connect.
pub(super) struct Admission {
    pub(super) limits: ConnectionLimits,
    all: Arc<Semaphore>,
    clients: Clients,
    refusals: Arc<Semaphore>,
    /// What they are told.
    refusal: Bytes,
}

/// A connection's permit among all, and among those of its client.
pub(super) struct ConnectionPermit {
    _among_all: OwnedSemaphorePermit,
    client: Option<ClientPermit>,
}

impl ConnectionPermit {
    /// Waits for the turn of a request, which lasts until what this gives is dropped. A proxy that is trusted stands for many clients
    /// and does not wait.
    pub(super) async fn acquire_request(&self) -> Option<SemaphorePermit<'_>> {
        // Never closed.
        self.client.as_ref()?.requests.acquire().await.ok()
    }
}

/// The clients that are connected.
type Clients = Arc<Mutex<HashMap<Client, Connected>>>;

/// What a client has.
struct Connected {
    connections: usize,
    /// For its requests.
    requests: Arc<Semaphore>,
}

/// One of a client's connections.
struct ClientPermit {
    client: Client,
    requests: Arc<Semaphore>,
    clients: Clients,
}

impl ClientPermit {
    /// One more connection of a client, unless it has so many.
    fn take(clients: &Clients, client: Client, most: usize) -> Option<Self> {
        let mut connected = clients.lock();
        let of_client = connected.entry(client).or_insert_with(|| Connected {
            connections: 0,
            requests: Arc::new(Semaphore::new(MAX_CONCURRENT_REQUESTS)),
        });
        if of_client.connections >= most {
            return None;
        }
        of_client.connections += 1;
        Some(Self { client, requests: Arc::clone(&of_client.requests), clients: Arc::clone(clients) })
    }
}

impl Drop for ClientPermit {
    fn drop(&mut self) {
        let mut connected = self.clients.lock();
        if let Some(of_client) = connected.get_mut(&self.client) {
            of_client.connections -= 1;
            if of_client.connections == 0 {
                connected.remove(&self.client);
            }
        }
    }
}

impl Admission {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        Self {
            all: Arc::new(Semaphore::new(limits.connections as usize)),
            clients: Clients::default(),
            refusals: Arc::new(Semaphore::new(MOST_REFUSALS)),
            refusal: refusal(),
            limits,
        }
    }

    pub(super) fn admit(&self, peer: IpAddr) -> Option<ConnectionPermit> {
        let client = if is_trusted_proxy(peer, &self.limits.trusted_proxies) {
            None
        } else {
            Some(ClientPermit::take(&self.clients, peer.into(), self.limits.per_client)?)
        };
        Some(ConnectionPermit { _among_all: Arc::clone(&self.all).try_acquire_owned().ok()?, client })
    }

    /// Says why a connection is not served. What the client has sent is read first, or the close would be a reset that takes the
    /// answer with it.
    pub(super) fn refuse(&self, mut stream: TcpStream) {
        let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else { return };
        let refusal = self.refusal.clone();
        tokio::spawn(async move {
            let telling = async {
                let mut unread = [0; 4096];
                let _ = stream.read(&mut unread).await?;
                stream.write_all(&refusal).await?;
                stream.shutdown().await?;
                while stream.read(&mut unread).await? > 0 {}
                Ok::<_, std::io::Error>(())
            };
            let _ = tokio::time::timeout(REFUSAL_TIME_LIMIT, telling).await;
            drop(permit);
        });
    }

    /// Waits, not long, until the last connection has ended: then every permit is free again.
    pub(super) async fn drained(&self) {
        let all = self.all.acquire_many(self.limits.connections);
        if tokio::time::timeout(DRAIN_TIME_LIMIT, all).await.is_err() {
            tracing::warn!("connections were cut at the end");
        }
    }
}

/// What a connection is told for which there is no room: no request of it has been read, so that there is no id to tell.
fn refusal() -> Bytes {
    let body = Problem::new(Code::TooManyConnections, Code::TooManyConnections.meaning()).to_json("none");
    let head = format!(
        "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/problem+json\r\nRetry-After: 1\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), &body].concat().into()
}
