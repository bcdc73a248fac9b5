//! The threads for reads that may take long: a few for the whole chain, shared fairly, and of lower priority than everything else.
//!
//! All ways to read the chain share them: its own port, the gateway in the same process, the product itself. A piece of
//! work counts from its start to its end, whether its caller still waits or not; work whose caller has left, or whose
//! time is over, is told so by its [`Interrupt`] and ends. Blocks are produced elsewhere and always come first.

use std::{
    collections::{HashMap, VecDeque},
    io,
    net::IpAddr,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};
use tokio::sync::oneshot;

use crate::exec::{Interrupt, Interruption};

/// How long an answer may take, waiting included.
pub(crate) const TIME_LIMIT: Duration = Duration::from_secs(10);

/// Threads. More than there are cores do no harm at their priority, and let short work pass long work.
const WORKERS: usize = 4;
/// Threads that one client may use at a time: never all.
const WORKERS_PER_CLIENT: usize = WORKERS - 1;
/// Traces at a time, of all clients together: each may hold a hundred megabytes.
const TRACES: usize = 1;
/// Pieces of work that wait for a thread, of all clients and of one.
const MAX_WAITING: usize = 256;
const MAX_WAITING_PER_CLIENT: usize = 128;
/// How far the threads step back for all others.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Whose work it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Client {
    /// The product itself: API, index, keeper.
    Product,
    /// The public, through the gateway in this process, which shares out among its callers.
    Gateway,
    /// Somebody at the node's own port.
    Peer(IpAddr),
}

/// What a piece of work takes beside a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// Nothing worth counting.
    Light,
    /// Much memory, for the record of an execution.
    Trace,
}

/// Why work has no outcome.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkError {
    /// Too much waits already.
    #[error("too many reads are waiting")]
    Busy,
    /// It was not begun in time.
    #[error(transparent)]
    Interrupted(#[from] Interruption),
    /// No thread could be started.
    #[error("a thread for reads could not be started")]
    Thread(#[from] io::Error),
    /// It panicked; the panic is in the log.
    #[error("a read panicked")]
    Panicked,
}

/// The threads and what waits for them.
#[derive(Default)]
pub(crate) struct WorkerPool(Arc<Shared>);

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    /// Clients with work that waits or runs, or that did a moment ago.
    clients: HashMap<Client, Turns>,
    traces: usize,
    threads: usize,
    idle: usize,
    last_job: u64,
    turns: u64,
    is_closed: bool,
}

/// What a client has had of the threads.
#[derive(Debug, Clone, Copy, Default)]
struct Turns {
    running: usize,
    /// When it last had a turn, counted in turns of all.
    last: u64,
}

struct Job {
    number: u64,
    client: Client,
    weight: Weight,
    work: Box<dyn FnOnce() + Send>,
}

impl WorkerPool {
    /// Runs a piece of work. If this is dropped, the work is not begun, or told to end.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        client: Client,
        weight: Weight,
        work: impl FnOnce(&Interrupt) -> T + Send + 'static,
    ) -> Result<T, WorkError> {
        let interrupt = Arc::new(Interrupt::at(Instant::now() + TIME_LIMIT));
        let (sender, outcome) = oneshot::channel();
        let work = {
            let interrupt = Arc::clone(&interrupt);
            move || {
                let done = interrupt.check().map(|()| work(&interrupt));
                // Nobody may be left to hear of it.
                let _ = sender.send(done);
            }
        };
        let number = self.0.enqueue(client, weight, Box::new(work))?;
        let _waiting = Waiting { shared: &self.0, number, interrupt: &interrupt };
        Ok(outcome.await.map_err(|_| WorkError::Panicked)??)
    }

    /// Threads that work, for tests.
    #[cfg(test)]
    pub(crate) fn running(&self) -> usize {
        self.0.state.lock().clients.values().map(|turns| turns.running).sum()
    }
}

impl Drop for WorkerPool {
    fn drop(&mut self) {
        self.0.state.lock().is_closed = true;
        self.0.changed.notify_all();
    }
}

/// Somebody waits for a piece of work.
struct Waiting<'a> {
    shared: &'a Shared,
    number: u64,
    interrupt: &'a Interrupt,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.interrupt.abandon();
        let abandoned = {
            let waiting = &mut self.shared.state.lock().waiting;
            let position = waiting.iter().position(|job| job.number == self.number);
            position.and_then(|position| waiting.remove(position))
        };
        // Outside of the lock: it may hold the last handle of much.
        drop(abandoned);
    }
}

impl Shared {
    fn enqueue(
        self: &Arc<Self>,
        client: Client,
        weight: Weight,
        work: Box<dyn FnOnce() + Send>,
    ) -> Result<u64, WorkError> {
        let mut state = self.state.lock();
        let of_client = state.waiting.iter().filter(|job| job.client == client).count();
        if state.waiting.len() >= MAX_WAITING || of_client >= MAX_WAITING_PER_CLIENT {
            return Err(WorkError::Busy);
        }
        if state.idle == 0 && state.threads < WORKERS {
            let shared = Arc::clone(self);
            let name = format!("read-{}", state.threads + 1);
            thread::Builder::new().name(name).spawn(move || shared.work())?;
            state.threads += 1;
        }
        state.last_job += 1;
        let number = state.last_job;
        state.waiting.push_back(Job { number, client, weight, work });
        drop(state);
        self.changed.notify_one();
        Ok(number)
    }

    fn work(&self) {
        step_back();
        while let Some(Job { client, weight, work, .. }) = self.next() {
            // The panic is told by its hook; whoever waits hears that nothing comes.
            let _ = catch_unwind(AssertUnwindSafe(work));
            self.finish(client, weight);
        }
    }

    /// The next piece of work, for as long as there is somebody to work for.
    fn next(&self) -> Option<Job> {
        let mut state = self.state.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some(job) = state.take_next() {
                return Some(job);
            }
            state.idle += 1;
            self.changed.wait(&mut state);
            state.idle -= 1;
        }
    }

    fn finish(&self, client: Client, weight: Weight) {
        self.state.lock().finish(client, weight);
        // The client may have work waiting that it was not yet allowed, or others a trace.
        self.changed.notify_one();
    }
}

impl State {
    /// The oldest work of whoever has the least under way and has waited longest for a turn.
    fn take_next(&mut self) -> Option<Job> {
        let turns = |client| self.clients.get(&client).copied().unwrap_or_default();
        let waiting = self.waiting.iter().enumerate();
        let (_, at) = waiting
            .filter(|(_, job)| job.weight == Weight::Light || self.traces < TRACES)
            .map(|(at, job)| (turns(job.client), at))
            .filter(|(turns, _)| turns.running < WORKERS_PER_CLIENT)
            .min_by_key(|(turns, at)| (turns.running, turns.last, *at))?;
        let job = self.waiting.remove(at)?;
        self.turns += 1;
        let turns = self.clients.entry(job.client).or_default();
        turns.running += 1;
        turns.last = self.turns;
        self.traces += usize::from(job.weight == Weight::Trace);
        Some(job)
    }

    fn finish(&mut self, client: Client, weight: Weight) {
        self.traces -= usize::from(weight == Weight::Trace);
        if let Some(turns) = self.clients.get_mut(&client) {
            turns.running -= 1;
        }
        // Only who has work waiting can be before others.
        let waiting = &self.waiting;
        self.clients
            .retain(|client, turns| turns.running > 0 || waiting.iter().any(|job| job.client == *client));
    }
}

/// Lets everything else go first: connections that are answered in microseconds, and above all the producer of blocks.
#[cfg(target_os = "linux")]
fn step_back() {
    // On Linux this is about the calling thread alone.
    if let Err(error) = rustix::process::setpriority_process(None, NICENESS) {
        tracing::debug!(%error, "reads run at the priority of everything else");
    }
}

/// Elsewhere a priority is the whole process's.
#[cfg(not(target_os = "linux"))]
fn step_back() {}

#[cfg(test)]
mod tests {
    use std::{net::Ipv4Addr, sync::mpsc};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    fn peer(n: u8) -> Client {
        Client::Peer(Ipv4Addr::new(10, 0, 0, n).into())
    }

    async fn until(condition: impl Fn() -> bool) {
        let met = async {
            while !condition() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(PATIENCE, met).await.expect("in time");
    }

    /// Works until it is told to end.
    fn endless(interrupt: &Interrupt) -> Interruption {
        loop {
            if let Err(interruption) = interrupt.check() {
                return interruption;
            }
            thread::yield_now();
        }
    }

    #[tokio::test]
    async fn work_whose_caller_left_ends_and_counts_until_then() {
        let pool = Arc::new(WorkerPool::default());
        for _ in 0..20 {
            let mut left = Vec::new();
            for n in 0..20 {
                let pool = Arc::clone(&pool);
                left.push(tokio::spawn(
                    async move { pool.run(peer(n), Weight::Light, endless).await.is_ok() },
                ));
            }
            until(|| pool.running() == WORKERS).await;
            left.iter().for_each(tokio::task::JoinHandle::abort);
            assert!(pool.running() <= WORKERS);
            until(|| pool.running() == 0).await;
        }
        assert!(pool.0.state.lock().threads <= WORKERS);
        assert!(pool.0.state.lock().waiting.is_empty());
    }

    #[tokio::test]
    async fn one_client_never_has_all_threads() {
        let pool = Arc::new(WorkerPool::default());
        let mut busy = Vec::new();
        for _ in 0..MAX_WAITING_PER_CLIENT {
            let pool = Arc::clone(&pool);
            busy.push(tokio::spawn(async move { pool.run(peer(1), Weight::Light, endless).await.is_ok() }));
        }
        until(|| pool.running() == WORKERS_PER_CLIENT).await;
        let other =
            tokio::time::timeout(PATIENCE, pool.run(peer(2), Weight::Light, |_| 7)).await.expect("in time");
        assert_eq!(other.expect("an outcome"), 7);
        busy.iter().for_each(tokio::task::JoinHandle::abort);
    }

    #[tokio::test]
    async fn one_trace_runs_at_a_time_and_clients_take_turns() {
        let pool = Arc::new(WorkerPool::default());
        let (go, gone) = mpsc::channel::<()>();
        let gone = Arc::new(Mutex::new(gone));
        let order = Arc::new(Mutex::new(Vec::new()));
        let mut traces = Vec::new();
        for (waiting, n) in [1, 1, 1, 1, 2].into_iter().enumerate() {
            let (gone, order) = (Arc::clone(&gone), Arc::clone(&order));
            let work = move |_: &Interrupt| {
                let _others = gone.try_lock().expect("no other trace").recv();
                order.lock().push(n);
            };
            let worker = Arc::clone(&pool);
            traces.push(tokio::spawn(async move { worker.run(peer(n), Weight::Trace, work).await }));
            until(|| pool.running() == 1 && pool.0.state.lock().waiting.len() == waiting).await;
        }
        let other = pool.run(peer(1), Weight::Light, |_| 7).await;
        assert_eq!(other.expect("an outcome"), 7, "what is no trace does not wait for one");
        drop(go);
        for trace in traces {
            trace.await.expect("no panic").expect("an outcome");
        }
        assert_eq!(*order.lock(), [1, 2, 1, 1, 1]);
    }

    #[tokio::test]
    async fn what_waits_is_bounded_for_a_client_and_in_all() {
        let pool = Arc::new(WorkerPool::default());
        let (go, gone) = mpsc::channel::<()>();
        let gone = Arc::new(Mutex::new(gone));
        let mut waiting = Vec::new();
        for n in 0..4 {
            for _ in 0..MAX_WAITING_PER_CLIENT {
                let (pool, gone) = (Arc::clone(&pool), Arc::clone(&gone));
                let work = move |_: &Interrupt| gone.lock().recv().is_err();
                waiting.push(tokio::spawn(async move { pool.run(peer(n), Weight::Light, work).await }));
            }
        }
        until(|| waiting.iter().any(|task| task.is_finished())).await;
        assert!(pool.0.state.lock().waiting.len() <= MAX_WAITING);
        drop(go);
        let mut refused = 0;
        for task in waiting {
            match task.await.expect("no panic") {
                Ok(_) => {}
                Err(WorkError::Busy) => refused += 1,
                Err(other) => panic!("{other}"),
            }
        }
        assert!(refused > 0);
    }

    #[tokio::test]
    async fn a_panic_costs_its_caller_the_answer_and_nobody_else() {
        let pool = WorkerPool::default();
        for _ in 0..2 * WORKERS {
            let outcome = pool.run(Client::Product, Weight::Light, |_| panic!("on purpose")).await;
            assert!(matches!(outcome, Err::<(), _>(WorkError::Panicked)));
        }
        assert_eq!(pool.run(Client::Product, Weight::Light, |_| 1).await.expect("an outcome"), 1);
    }
}
