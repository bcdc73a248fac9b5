//! The threads that serve connections, one for each core. A connection stays on one of them from accept to close, with whatever it waits
//! for: answering a request neither wakes another thread nor waits for one.

use std::{
    io,
    net::{IpAddr, TcpStream as StdStream},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use tokio::{net::TcpStream, runtime::Builder, sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{Permit, Server, refuse};

/// A connection that was accepted, with its place among all.
pub(crate) struct Arrival {
    pub(crate) stream: StdStream,
    pub(crate) peer: IpAddr,
    pub(crate) place: Permit,
    /// What it is told instead of being served.
    pub(crate) refusal: Option<&'static [u8]>,
}

/// All threads.
pub(crate) struct Threads {
    desks: Vec<Desk>,
    /// Closed when the last thread has ended.
    running: mpsc::Receiver<()>,
    /// Tells threads to end whatever is open.
    give_up: CancellationToken,
}

/// One thread, as the others see it.
struct Desk {
    /// Bounded by the places that arrivals bring along.
    arrivals: mpsc::UnboundedSender<(Arrival, Open)>,
    open: Arc<AtomicUsize>,
}

/// Counts as one of a thread's connections until it is dropped.
struct Open(Arc<AtomicUsize>);

impl Open {
    fn new(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Threads {
    /// Starts the threads. `stop` tells connections to come to an end.
    pub(crate) fn start<S: Server>(
        name: &str,
        server: &Arc<S>,
        stop: &CancellationToken,
    ) -> io::Result<Self> {
        let (alive, running) = mpsc::channel(1);
        let give_up = CancellationToken::new();
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let start = |number| {
            let runtime = Builder::new_current_thread().enable_io().enable_time().build()?;
            let (arrivals, arriving) = mpsc::unbounded_channel();
            // A token of its own: threads that look at one and the same wait for each other.
            let work = work(Arc::clone(server), arriving, stop.child_token());
            let (give_up, alive) = (give_up.clone(), alive.clone());
            thread::Builder::new().name(format!("{name}-{number}")).spawn(move || {
                runtime.block_on(give_up.run_until_cancelled(work));
                drop(alive);
            })?;
            Ok(Desk { arrivals, open: Arc::default() })
        };
        let desks = (0..cores).map(start).collect::<io::Result<_>>()?;
        Ok(Self { desks, running, give_up })
    }

    /// Hands a connection to the thread that has the fewest.
    pub(crate) fn take(&self, arrival: Arrival) {
        let least = self.desks.iter().min_by_key(|desk| desk.open.load(Ordering::Relaxed));
        if let Some(desk) = least {
            // Fails only if the thread has died, and the connection with it.
            let _ = desk.arrivals.send((arrival, Open::new(&desk.open)));
        }
    }

    /// Connections that are open.
    pub(crate) fn open(&self) -> usize {
        self.desks.iter().map(|desk| desk.open.load(Ordering::Relaxed)).sum()
    }

    /// Waits until the last connection has ended, after `stop`.
    pub(crate) async fn see_out(&mut self) {
        while self.running.recv().await.is_some() {}
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.give_up.cancel();
    }
}

/// What a thread does: serves until told to stop, and then until the last connection has ended.
async fn work<S: Server>(
    server: Arc<S>,
    mut arriving: mpsc::UnboundedReceiver<(Arrival, Open)>,
    stop: CancellationToken,
) {
    let mut tasks = JoinSet::new();
    while let Some((arrival, open)) = next(&mut arriving, &stop).await {
        while tasks.try_join_next().is_some() {}
        let (server, stop) = (Arc::clone(&server), stop.clone());
        tasks.spawn(async move {
            serve(server, arrival, stop).await;
            drop(open);
        });
    }
    while tasks.join_next().await.is_some() {}
}

/// The next arrival. What has arrived when we are told to stop is still taken.
async fn next<T>(arriving: &mut mpsc::UnboundedReceiver<T>, stop: &CancellationToken) -> Option<T> {
    if let Some(arrival) = stop.run_until_cancelled(arriving.recv()).await {
        return arrival;
    }
    arriving.close();
    arriving.recv().await
}

async fn serve<S: Server>(server: Arc<S>, arrival: Arrival, stop: CancellationToken) {
    let Arrival { stream, peer, place, refusal } = arrival;
    match (TcpStream::from_std(stream), refusal) {
        (Ok(stream), None) => server.serve(stream, peer, stop).await,
        (Ok(stream), Some(refusal)) => refuse(stream, refusal).await,
        (Err(error), _) => tracing::warn!(%error, "could not serve a connection"),
    }
    drop(place);
}

#[cfg(test)]
mod tests {
    use std::{collections::HashSet, net::SocketAddr, time::Duration};

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpListener,
        task::JoinHandle,
    };

    use super::*;
    use crate::Bounds;

    /// Says which thread serves, and goes on until the caller leaves or it is told to stop.
    struct Names;

    impl Server for Names {
        const FULL: &'static [u8] = b"full";

        async fn serve(self: Arc<Self>, mut stream: TcpStream, _: IpAddr, stop: CancellationToken) {
            let name = thread::current().name().unwrap_or_default().to_owned();
            let _ = stream.write_all(name.as_bytes()).await;
            let mut byte = [0];
            let _ = stop.run_until_cancelled(stream.read(&mut byte)).await;
        }
    }

    async fn start(connections: usize) -> (SocketAddr, CancellationToken, JoinHandle<io::Result<()>>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shutdown = CancellationToken::new();
        let bounds = Bounds { connections, drain: Duration::from_secs(60) };
        let serving = crate::serve("test", listener, Arc::new(Names), bounds, shutdown.clone());
        (address, shutdown, tokio::spawn(serving))
    }

    async fn hear(stream: &mut TcpStream) -> String {
        let mut told = Vec::new();
        stream.read_buf(&mut told).await.unwrap();
        String::from_utf8(told).unwrap()
    }

    #[tokio::test]
    async fn connections_are_spread_over_all_threads() {
        let (address, _shutdown, _serving) = start(1000).await;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let (mut open, mut names) = (Vec::new(), HashSet::new());
        for _ in 0..cores {
            open.push(TcpStream::connect(address).await.unwrap());
        }
        for stream in &mut open {
            names.insert(hear(stream).await);
        }
        assert_eq!(names.len(), cores, "{names:?}");
    }

    #[tokio::test]
    async fn whoever_finds_no_room_is_told() {
        let (address, _shutdown, _serving) = start(0).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(b"hello").await.unwrap();
        assert_eq!(hear(&mut stream).await, "full");
    }

    #[tokio::test]
    async fn open_connections_are_seen_out_before_it_ends() {
        let (address, shutdown, serving) = start(10).await;
        let mut stream = TcpStream::connect(address).await.unwrap();
        assert!(hear(&mut stream).await.starts_with("test-"));
        shutdown.cancel();
        serving.await.unwrap().unwrap();
        assert_eq!(hear(&mut stream).await, "");
        assert!(TcpStream::connect(address).await.is_err());
    }
}
