//! A small balancer: asks servers whether they are ready, spreads connections over those that are, and retries nothing.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinHandle},
    time::{Instant, sleep, timeout},
};

use crate::HttpClient;

/// Between two questions to a server.
const PROBE_EVERY: Duration = Duration::from_millis(25);
/// How long a server may take to answer one. On a loaded machine an answer that is late is no answer, and changes nothing.
const PROBE_LIMIT: Duration = Duration::from_secs(5);
/// How long servers may take to be ready.
const PATIENCE: Duration = Duration::from_secs(90);

/// A balancer on a free port; it stops when dropped.
#[derive(Debug)]
pub struct Balancer {
    address: SocketAddr,
    servers: Arc<Servers>,
    accepting: JoinHandle<()>,
}

#[derive(Debug, Default)]
struct Servers {
    known: Mutex<HashMap<SocketAddr, Server>>,
    /// Those that are ready, in order.
    ready: Mutex<Vec<SocketAddr>>,
    next: AtomicUsize,
    turned_away: AtomicUsize,
}

#[derive(Debug)]
struct Server {
    probing: AbortHandle,
}

impl Balancer {
    /// Listens, with nobody behind it yet.
    pub async fn start() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        let servers = Arc::new(Servers::default());
        let accepting = tokio::spawn(accept(listener, servers.clone()));
        Ok(Self { address, servers, accepting })
    }

    /// A client of whoever is behind it.
    pub fn client(&self) -> HttpClient {
        HttpClient::new(self.address)
    }

    /// Asks this server from now on whether it is ready, and sends it connections when it is.
    pub fn add(&self, server: SocketAddr) {
        let probing = tokio::spawn(probe(server, self.servers.clone())).abort_handle();
        self.servers.known.lock().unwrap_or_else(PoisonError::into_inner).insert(server, Server { probing });
    }

    /// Forgets a server.
    pub fn remove(&self, server: SocketAddr) {
        let known = self.servers.known.lock().unwrap_or_else(PoisonError::into_inner).remove(&server);
        if let Some(Server { probing }) = known {
            probing.abort();
        }
        self.servers.note(server, false);
    }

    /// Waits until so many servers are ready.
    ///
    /// # Panics
    /// When that takes too long.
    pub async fn wait_for(&self, count: usize) {
        let deadline = Instant::now() + PATIENCE;
        while self.servers.count() < count {
            assert!(Instant::now() < deadline, "{} of {count} servers are ready", self.servers.count());
            sleep(PROBE_EVERY).await;
        }
    }

    /// Connections that were closed because no server was ready, or the one whose turn it was could not be reached.
    pub fn turned_away(&self) -> usize {
        self.servers.turned_away.load(Ordering::Relaxed)
    }
}

impl Drop for Balancer {
    fn drop(&mut self) {
        self.accepting.abort();
        for server in self.servers.known.lock().unwrap_or_else(PoisonError::into_inner).values() {
            server.probing.abort();
        }
    }
}

impl Servers {
    fn note(&self, server: SocketAddr, is_ready: bool) {
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        match (is_ready, ready.iter().position(|known| *known == server)) {
            (true, None) => ready.push(server),
            (false, Some(place)) => {
                ready.remove(place);
            }
            (true, Some(_)) | (false, None) => {}
        }
    }

    fn count(&self) -> usize {
        self.ready.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Whose turn it is.
    fn pick(&self) -> Option<SocketAddr> {
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let turn = self.next.fetch_add(1, Ordering::Relaxed).checked_rem(ready.len())?;
        ready.get(turn).copied()
    }
}

async fn probe(server: SocketAddr, servers: Arc<Servers>) {
    let client = HttpClient::new(server);
    loop {
        if let Ok(answer) = timeout(PROBE_LIMIT, client.get("/ready")).await {
            servers.note(server, answer.is_ok_and(|answer| answer.status == 200));
        }
        sleep(PROBE_EVERY).await;
    }
}

async fn accept(listener: TcpListener, servers: Arc<Servers>) {
    loop {
        let Ok((client, _)) = listener.accept().await else { continue };
        tokio::spawn(pass(client, servers.clone()));
    }
}

async fn pass(mut client: TcpStream, servers: Arc<Servers>) {
    let reached = match servers.pick() {
        Some(server) => TcpStream::connect(server).await.ok(),
        None => None,
    };
    match reached {
        // How it ends is between the two.
        Some(mut server) => drop(copy_bidirectional(&mut client, &mut server).await),
        None => {
            servers.turned_away.fetch_add(1, Ordering::Relaxed);
        }
    }
}
