//! A closed loop of requests: a fixed number of connections, each with one request under way.

use std::{
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::Result;
use indicatif::ProgressBar;
use tokio::task::JoinSet;

use crate::{http::Connection, usage};

/// Connections of every load.
pub(crate) const CONNECTIONS: usize = 8;

/// A server under load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) pid: i32,
}

/// When a load ends.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Until {
    /// After this many requests.
    Count(usize),
    /// After this time; what is under way is finished.
    Elapsed(Duration),
}

/// What a load cost.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    /// Requests answered.
    pub(crate) requests: usize,
    /// Time from the first request to the last answer.
    pub(crate) elapsed: Duration,
    /// CPU time of the server.
    pub(crate) cpu: Duration,
    /// The time within which 99 of 100 requests were answered.
    pub(crate) p99: Duration,
}

impl Cost {
    pub(crate) fn per_second(&self) -> f64 {
        self.requests as f64 / self.elapsed.as_secs_f64()
    }

    pub(crate) fn cpu_micros(&self) -> f64 {
        self.cpu.as_secs_f64() * 1e6 / self.requests as f64
    }
}

/// Sends the requests over [`CONNECTIONS`] connections, again from the first when all are sent; fails if one is
/// refused.
pub(crate) async fn send(
    server: Server,
    requests: &Arc<Vec<Vec<u8>>>,
    until: Until,
    bar: &ProgressBar,
) -> Result<Cost> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut connections = Vec::with_capacity(CONNECTIONS);
    for _ in 0..CONNECTIONS {
        connections.push(Connection::open(server.address).await?);
    }
    let cpu_before = usage::cpu_time(server.pid)?;
    let started = Instant::now();
    let mut workers = JoinSet::new();
    for connection in connections {
        let turns = Turns { next: next.clone(), started, until };
        workers.spawn(work(connection, requests.clone(), turns, bar.clone()));
    }
    let mut answers = Vec::new();
    while let Some(worker) = workers.join_next().await {
        answers.extend(worker??);
    }
    let elapsed = started.elapsed();
    let cpu = usage::cpu_time(server.pid)?.saturating_sub(cpu_before);
    Ok(Cost { requests: answers.len(), elapsed, cpu, p99: percentile(&mut answers, 99) })
}

/// The value that this many of a hundred do not exceed; zero without any.
pub(crate) fn percentile(times: &mut [Duration], percent: usize) -> Duration {
    times.sort_unstable();
    let last = times.len().saturating_sub(1);
    times.get((times.len() * percent / 100).min(last)).copied().unwrap_or_default()
}

/// Sends one request and returns the body of the answer.
pub(crate) async fn ask(server: Server, request: &[u8]) -> Result<Vec<u8>> {
    Ok(Connection::open(server.address).await?.exchange_ok(request).await?.to_vec())
}

/// Hands out the numbers of requests to all connections.
struct Turns {
    next: Arc<AtomicUsize>,
    started: Instant,
    until: Until,
}

impl Turns {
    fn take(&self) -> Option<usize> {
        let turn = self.next.fetch_add(1, Ordering::Relaxed);
        let goes_on = match self.until {
            Until::Count(total) => turn < total,
            Until::Elapsed(limit) => self.started.elapsed() < limit,
        };
        goes_on.then_some(turn)
    }
}

async fn work(
    mut connection: Connection,
    requests: Arc<Vec<Vec<u8>>>,
    turns: Turns,
    bar: ProgressBar,
) -> Result<Vec<Duration>> {
    let mut answers = Vec::new();
    while let Some(turn) = turns.take() {
        let Some(request) = requests.get(turn % requests.len().max(1)) else {
            break;
        };
        let asked = Instant::now();
        connection.exchange_ok(request).await?;
        answers.push(asked.elapsed());
        if turn.is_multiple_of(256) {
            bar.set_position(turn as u64);
        }
    }
    Ok(answers)
}
