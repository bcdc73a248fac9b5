//! Somebody who uses the product while it is attacked, and notes what becomes of that.

use std::{
    fs,
    future::Future,
    io,
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use parking_lot::Mutex;
use serde_json::json;
use tokio::{
    runtime::Builder,
    time::{interval, timeout},
};
use tokio_util::sync::{CancellationToken, DropGuard};

use super::{AttackReport, Breach, client::Targets};
use crate::{AppProcess, HttpAnswer, HttpClient, HttpError};

/// Between two questions about the head: within the limit of 300 a minute.
const HEAD_INTERVAL: Duration = Duration::from_millis(300);
/// Between two looks at a health page: within the limit of 100 a minute.
const HEALTH_INTERVAL: Duration = Duration::from_secs(1);
/// Between two blocks.
const BLOCK_PERIOD: Duration = Duration::from_secs(2);
/// In a second in which more than one of so many parts of the machine's time went elsewhere, nothing is judged.
const MAX_STEAL_FRACTION: u64 = 20;
/// Nobody waits longer than this for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// Asks in the background until it is dropped.
pub(super) struct Observer {
    notes: Arc<Mutex<Notes>>,
    _stop: DropGuard,
}

#[derive(Default)]
struct Notes {
    /// Whether others had much of the machine lately.
    is_stolen: bool,
    stolen_seconds: u32,
    answers: u32,
    slowest_answer: Duration,
    latest_block: Duration,
    memory: u64,
    breach: Option<Breach>,
}

impl Observer {
    pub(super) fn start(
        app: &AppProcess,
        targets: Targets,
        max_delay: Duration,
        max_memory: u64,
    ) -> io::Result<Self> {
        let notes = Arc::new(Mutex::new(Notes::default()));
        let stop = CancellationToken::new();
        let watch = Watch { notes: notes.clone(), max_delay };
        let (pid, stopped) = (app.server().pid(), stop.clone());
        // A thread of its own: whoever asks does not wait for the attackers' work.
        let runtime = Builder::new_current_thread().enable_all().build()?;
        thread::Builder::new().name("observer".to_owned()).spawn(move || {
            runtime.block_on(stopped.run_until_cancelled(watch.observe(targets, pid, max_memory)))
        })?;
        Ok(Self { notes, _stop: stop.drop_guard() })
    }

    pub(super) fn breach(&self) -> Option<Breach> {
        self.notes.lock().breach.clone()
    }

    pub(super) fn add_to(&self, report: &mut AttackReport) {
        let mut notes = self.notes.lock();
        report.answers += std::mem::take(&mut notes.answers);
        report.stolen_seconds += std::mem::take(&mut notes.stolen_seconds);
        report.slowest_answer = report.slowest_answer.max(notes.slowest_answer);
        report.latest_block = report.latest_block.max(notes.latest_block);
        report.memory = report.memory.max(notes.memory);
    }
}

#[derive(Clone)]
struct Watch {
    notes: Arc<Mutex<Notes>>,
    max_delay: Duration,
}

impl Watch {
    /// Uses everything at once.
    async fn observe(self, targets: Targets, pid: i32, max_memory: u64) {
        let health = |what, address| self.clone().health(what, HttpClient::new(address));
        tokio::join!(
            self.clone().head(HttpClient::new(targets.rpc)),
            health("/health of the API", targets.api),
            health("/health of the explorer", targets.explorer),
            health("/health of the faucet", targets.faucet),
            self.clone().memory(pid, max_memory),
            self.clone().machine(),
        );
    }

    /// Asks for the head, and notes when blocks come.
    async fn head(self, rpc: HttpClient) {
        let question = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": [] });
        let mut turns = interval(HEAD_INTERVAL);
        let mut newest: Option<(u64, Instant)> = None;
        loop {
            turns.tick().await;
            let Some(answer) = self.timed("eth_blockNumber", rpc.post("/", &question)).await else {
                continue;
            };
            let json = answer.json();
            let Some(number) = json
                .get("result")
                .and_then(|number| u64::from_str_radix(number.as_str()?.get(2..)?, 16).ok())
            else {
                self.note(Breach::NoAnswer { what: "eth_blockNumber", reason: json.to_string() });
                continue;
            };
            let now = Instant::now();
            let waited = newest.map_or(Duration::ZERO, |(_, since)| now - since);
            if newest.is_none_or(|(known, _)| known != number) {
                newest = Some((number, now));
            }
            // Two looks lie between a block and its being noticed.
            self.overdue(number, waited.saturating_sub(BLOCK_PERIOD + HEAD_INTERVAL));
        }
    }

    async fn health(self, what: &'static str, server: HttpClient) {
        let mut turns = interval(HEALTH_INTERVAL);
        loop {
            turns.tick().await;
            if let Some(answer) = self.timed(what, server.get("/health")).await
                && !answer.status.is_success()
            {
                self.note(Breach::NoAnswer { what, reason: answer.status.to_string() });
            }
        }
    }

    /// Notes when the machine's owner takes it away: what is late then is not the product's doing.
    async fn machine(self) {
        let mut turns = interval(HEALTH_INTERVAL);
        let mut before = processor_time();
        let mut is_taken = false;
        loop {
            turns.tick().await;
            let now = processor_time();
            let passed = now.iter().zip(before).map(|(now, before)| now.saturating_sub(before));
            let [stolen, all] = <[u64; 2]>::try_from(passed.collect::<Vec<_>>()).unwrap_or_default();
            before = now;
            let was_taken = std::mem::replace(&mut is_taken, stolen * MAX_STEAL_FRACTION > all);
            let mut notes = self.notes.lock();
            notes.is_stolen = is_taken || was_taken;
            notes.stolen_seconds += u32::from(is_taken);
        }
    }

    async fn memory(self, pid: i32, max_memory: u64) {
        let mut turns = interval(Duration::from_millis(500));
        loop {
            turns.tick().await;
            // The process has ended, which its owner notices.
            let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) else { return };
            let kilobytes = status.lines().find_map(|line| {
                line.strip_prefix("VmRSS:")?.trim().strip_suffix(" kB")?.parse::<u64>().ok()
            });
            let bytes = kilobytes.unwrap_or_default() * 1024;
            {
                let mut notes = self.notes.lock();
                notes.memory = notes.memory.max(bytes);
            }
            if bytes > max_memory {
                self.note(Breach::Memory { bytes });
            }
        }
    }

    async fn timed(
        &self,
        what: &'static str,
        asking: impl Future<Output = Result<HttpAnswer, HttpError>>,
    ) -> Option<HttpAnswer> {
        let asked = Instant::now();
        let answer = timeout(PATIENCE, asking).await;
        let took = asked.elapsed();
        {
            let mut notes = self.notes.lock();
            notes.answers += 1;
            if !notes.is_stolen {
                notes.slowest_answer = notes.slowest_answer.max(took);
            }
        }
        if took > self.max_delay && !self.is_stolen() {
            self.note(Breach::LateAnswer { what, took });
        }
        match answer {
            Ok(Ok(answer)) => Some(answer),
            Ok(Err(error)) => {
                self.note(Breach::NoAnswer { what, reason: error.to_string() });
                None
            }
            Err(_) => None,
        }
    }

    fn overdue(&self, number: u64, overdue: Duration) {
        {
            let mut notes = self.notes.lock();
            if !notes.is_stolen {
                notes.latest_block = notes.latest_block.max(overdue);
            }
        }
        if overdue > self.max_delay && !self.is_stolen() {
            self.note(Breach::LateBlock { number, overdue });
        }
    }

    fn is_stolen(&self) -> bool {
        self.notes.lock().is_stolen
    }

    /// Keeps the first.
    fn note(&self, breach: Breach) {
        self.notes.lock().breach.get_or_insert(breach);
    }
}

/// The machine's processor time so far: what its host gave to other machines, and all. Zeros where the system does not tell.
fn processor_time() -> [u64; 2] {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    // user, nice, system, idle, iowait, irq, softirq, steal
    let parts: Vec<u64> =
        line.split_whitespace().skip(1).take(8).filter_map(|part| part.parse().ok()).collect();
    [parts.get(7).copied().unwrap_or_default(), parts.iter().sum()]
}
