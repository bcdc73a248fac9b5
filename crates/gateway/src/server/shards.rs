//! The threads that serve connections. A connection stays on one of them from accept to close, with whatever it asks of nodes:
//! answering a request neither wakes another thread nor waits for one.

use std::{
    io,
    net::{IpAddr, TcpStream as StdStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use tokio::{
    net::TcpStream,
    runtime::Builder,
    sync::{OwnedSemaphorePermit, mpsc},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{Shared, connection::Connection, refuse};

/// A connection that was accepted, with its place among all.
pub(super) struct Arrival {
    pub(super) stream: StdStream,
    pub(super) peer: IpAddr,
    pub(super) place: OwnedSemaphorePermit,
    /// Whether it is served, or told that there is no room.
    pub(super) has_room: bool,
}

/// All threads.
pub(super) struct Shards {
    shards: Vec<Shard>,
    /// Closed when the last thread has ended.
    running: mpsc::Receiver<()>,
    /// Tells threads to end whatever is open.
    give_up: CancellationToken,
}

/// One thread, as the others see it.
struct Shard {
    /// Bounded by the places that arrivals bring along.
    arrivals: mpsc::UnboundedSender<Arrival>,
    open: Arc<AtomicUsize>,
}

impl Shards {
    /// Starts a thread for each core. `stop` tells connections to come to an end.
    pub(super) fn start(shared: &Arc<Shared>, stop: &CancellationToken) -> io::Result<Self> {
        let (alive, running) = mpsc::channel(1);
        let give_up = CancellationToken::new();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let start = |number| {
            let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
            let (arrivals, arriving) = mpsc::unbounded_channel();
            let open = Arc::new(AtomicUsize::new(0));
            let (counted, alive) = (Arc::clone(&open), alive.clone());
            let desk = Desk { shared: Arc::clone(shared), stop: stop.clone(), open: counted };
            let give_up = give_up.clone();
            thread::Builder::new().name(format!("gateway-{number}")).spawn(move || {
                runtime.block_on(give_up.run_until_cancelled(desk.serve(arriving)));
                drop(alive);
            })?;
            Ok(Shard { arrivals, open })
        };
        let shards = (0..cores).map(start).collect::<io::Result<_>>()?;
        Ok(Self { shards, running, give_up })
    }

    /// Hands a connection to the thread that has the fewest.
    pub(super) fn take(&self, arrival: Arrival) {
        let least = self.shards.iter().min_by_key(|shard| shard.open.load(Ordering::Relaxed));
        if let Some(shard) = least {
            shard.open.fetch_add(1, Ordering::Relaxed);
            // Fails only if the thread has died, and the connection with it.
            let _ = shard.arrivals.send(arrival);
        }
    }

    /// Connections that are open.
    pub(super) fn open(&self) -> usize {
        self.shards.iter().map(|shard| shard.open.load(Ordering::Relaxed)).sum()
    }

    /// Waits until the last connection has ended, after `stop`.
    pub(super) async fn see_out(&mut self) {
        while self.running.recv().await.is_some() {}
    }
}

impl Drop for Shards {
    fn drop(&mut self) {
        self.give_up.cancel();
    }
}

/// What a thread works with.
struct Desk {
    shared: Arc<Shared>,
    stop: CancellationToken,
    open: Arc<AtomicUsize>,
}

impl Desk {
    /// Serves until told to stop, and then until the last connection has ended.
    async fn serve(self, mut arriving: mpsc::UnboundedReceiver<Arrival>) {
        let mut tasks = JoinSet::new();
        while let Some(arrival) = self.next(&mut arriving).await {
            while tasks.try_join_next().is_some() {}
            let (shared, stop, open) = (Arc::clone(&self.shared), self.stop.clone(), Arc::clone(&self.open));
            tasks.spawn(async move {
                serve(shared, stop, arrival).await;
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
        while tasks.join_next().await.is_some() {}
    }

    /// The next arrival. What has arrived when we are told to stop is still taken.
    async fn next(&self, arriving: &mut mpsc::UnboundedReceiver<Arrival>) -> Option<Arrival> {
        if let Some(arrival) = self.stop.run_until_cancelled(arriving.recv()).await {
            return arrival;
        }
        arriving.close();
        arriving.recv().await
    }
}

async fn serve(shared: Arc<Shared>, stop: CancellationToken, arrival: Arrival) {
    let Arrival { stream, peer, place, has_room } = arrival;
    match TcpStream::from_std(stream) {
        Ok(stream) if has_room => {
            let open = shared.gateway.metrics.connections.clone();
            open.inc();
            Connection::new(shared, peer, stop).serve(stream).await;
            open.dec();
        }
        Ok(stream) => refuse(stream).await,
        Err(error) => tracing::warn!(%error, "could not serve a connection"),
    }
    drop(place);
}
