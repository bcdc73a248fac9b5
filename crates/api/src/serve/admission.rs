//! Who may connect: so many in all, and so many of one client.

use std::{net::IpAddr, sync::Arc, time::Duration};

use access::{Client, is_trusted_proxy};
use bytes::Bytes;
use listen::{Budget, Charge};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::{OwnedSemaphorePermit, Semaphore},
};

use super::ConnectionLimits;
use crate::{code::Code, problem::Problem};

/// How long answers under way may take once the end has begun.
const DRAIN_TIME_LIMIT: Duration = Duration::from_secs(10);
/// Connections at a time that are told why they are not served; beyond them they are just closed.
const MOST_REFUSALS: usize = 64;
/// How long such a connection may take.
const REFUSAL_TIME_LIMIT: Duration = Duration::from_secs(1);

/// Who may connect.
pub(super) struct Admission {
    pub(super) limits: ConnectionLimits,
    all: Arc<Semaphore>,
    clients: Budget<Client>,
    refusals: Arc<Semaphore>,
    /// What they are told.
    refusal: Bytes,
}

/// A connection's permit among all, and among those of its client.
pub(super) type ConnectionPermit = (OwnedSemaphorePermit, Option<Charge<Client>>);

impl Admission {
    pub(super) fn new(limits: ConnectionLimits) -> Self {
        Self {
            all: Arc::new(Semaphore::new(limits.connections as usize)),
            clients: Budget::per_party(limits.per_client),
            refusals: Arc::new(Semaphore::new(MOST_REFUSALS)),
            refusal: refusal(),
            limits,
        }
    }

    pub(super) fn admit(&self, peer: IpAddr) -> Option<ConnectionPermit> {
        let client = self.clients.take(peer.into(), 1).ok();
        if client.is_none() && !is_trusted_proxy(peer, &self.limits.trusted_proxies) {
            return None;
        }
        Some((Arc::clone(&self.all).try_acquire_owned().ok()?, client))
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
