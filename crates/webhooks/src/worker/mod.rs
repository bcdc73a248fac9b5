//! Delivering: takes endpoints and their deliveries from the queue, sends, and writes down what became of it.
//!
//! An endpoint that does not answer keeps at most a few of the places for attempts busy, and after some failures one;
//! its other deliveries stay in the queue. Endpoints that failed of late share half of the places, so that many of them
//! do not hold up those that are well.

mod held;
mod house;
mod round;
mod start;

use std::{
    collections::{HashMap, HashSet, VecDeque},
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use access::Clock;
use alloy_primitives::Address;
use jiff::Timestamp;
use store::{
    Db,
    portal::{EndpointHealth, EndpointReport, Lease, TakenEndpoint},
};
use tokio::{
    sync::Notify,
    task::{JoinError, JoinSet},
    time::{Instant, sleep_until, timeout_at},
};
use tokio_util::sync::CancellationToken;

use self::{
    held::{Done, Held, Target},
    round::{Round, RoundResult},
};
use crate::{
    metrics::WebhookMetrics,
    secret::SealingKeys,
    sender::Sender,
    settings::{WorkerSettings, millis},
};

pub(crate) use held::{describe, host_of};

/// Endpoints that are taken in one turn: the first ones are sent to while the next ones are taken.
const MOST_TAKEN: usize = 48;
/// How long to wait after the database failed.
const DATABASE_PAUSE: Duration = Duration::from_secs(1);
/// How long to wait if an endpoint was due and somebody else took it.
const RIVAL_PAUSE: Duration = Duration::from_millis(10);
/// How long an endpoint waits whose secret cannot be opened: somebody has to configure the key.
const LOCKED_PAUSE: Duration = Duration::from_secs(600);

/// What a worker works with.
#[derive(Clone)]
pub struct WorkerParts {
    /// The queue.
    pub db: Db,
    /// Sends.
    pub sender: Sender,
    /// Open secrets.
    pub keys: Arc<SealingKeys>,
    /// Time.
    pub clock: Clock,
    /// Rung when deliveries were added.
    pub bell: Arc<Notify>,
    /// What is counted.
    pub metrics: WebhookMetrics,
    /// How to go about it.
    pub settings: WorkerSettings,
}

/// An endpoint, and which taking of it.
type Place = (Address, u64);

/// Delivers. Several may run on one database.
pub struct Worker {
    parts: WorkerParts,
    held: HashMap<Place, Held>,
    /// Endpoints that may have something to start, each once.
    ring: VecDeque<Place>,
    attempts: JoinSet<Done>,
    /// Attempts under way to endpoints that had failed.
    failing: usize,
    /// Reports that are still to be written.
    unwritten: Vec<EndpointReport>,
    /// When to look at the queue, if nobody rings before.
    look_at: Instant,
    is_rung: bool,
    /// The database failed: it is left alone until then.
    blocked_until: Instant,
}

type Turn = Pin<Box<dyn Future<Output = RoundResult> + Send>>;

impl Worker {
    /// A worker with these parts.
    pub fn new(parts: WorkerParts) -> Self {
        let now = Instant::now();
        Self {
            parts,
            held: HashMap::new(),
            ring: VecDeque::new(),
            attempts: JoinSet::new(),
            failing: 0,
            unwritten: Vec::new(),
            look_at: now,
            is_rung: false,
            blocked_until: now,
        }
    }

    /// Delivers until it is stopped. Then attempts under way may end, and what was not started waits again.
    pub async fn run(mut self, stop: CancellationToken) {
        let house = house::keep(self.parts.clone(), stop.clone());
        let deliver = async {
            self.deliver(&stop).await;
            self.say_goodbye().await;
        };
        tokio::join!(house, deliver);
    }

    async fn deliver(&mut self, stop: &CancellationToken) {
        let bell = Arc::clone(&self.parts.bell);
        let mut turn: Option<Turn> = None;
        loop {
            self.start_attempts();
            if turn.is_none() {
                turn = self.next_turn();
            }
            let wake_at = self.look_at.max(self.blocked_until);
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(result) = finish(&mut turn) => {
                    turn = None;
                    self.apply(result);
                }
                Some(done) = self.attempts.join_next() => {
                    self.note(done);
                    while let Some(done) = self.attempts.try_join_next() {
                        self.note(done);
                    }
                }
                () = bell.notified() => self.is_rung = true,
                () = sleep_until(wake_at), if turn.is_none() => {}
            }
        }
        if let Some(turn) = turn {
            let result = turn.await;
            self.apply(result);
        }
    }

    /// Ends in order: what is under way may end for a while, the rest is given back.
    async fn say_goodbye(&mut self) {
        let deadline = Instant::now() + self.parts.settings.farewell;
        while let Ok(Some(done)) = timeout_at(deadline, self.attempts.join_next()).await {
            self.note(done);
        }
        for held in self.held.values_mut() {
            held.return_ready();
            held.nudge();
        }
        let mut reports = self.reports();
        for report in &mut reports {
            report.wanted = 0;
            report.is_busy = false;
        }
        let unwritten = std::mem::take(&mut self.unwritten);
        for mut reports in [unwritten, reports] {
            if let Err(error) = self.parts.db.report_attempts(&mut reports, self.lease()).await {
                tracing::warn!(%error, "the last webhooks could not be written down, and are sent again");
            }
        }
    }

    fn now(&self) -> Timestamp {
        (self.parts.clock)()
    }

    fn lease(&self) -> Lease {
        let now = unix_millis(self.now());
        Lease { now, until: now + millis(self.parts.settings.lease) }
    }

    fn room(&self) -> usize {
        self.parts.settings.endpoints.saturating_sub(self.held.len())
    }

    /// What there is to say of all endpoints.
    fn reports(&mut self) -> Vec<EndpointReport> {
        let now = unix_millis(self.now());
        let settings = &self.parts.settings;
        self.held.values_mut().filter_map(|held| held.report(settings, now)).collect()
    }

    /// The next turn at the database, if there is a reason for one.
    fn next_turn(&mut self) -> Option<Turn> {
        let now = Instant::now();
        if now < self.blocked_until {
            return None;
        }
        let is_looking = self.is_rung || now >= self.look_at;
        if is_looking {
            self.held.values_mut().for_each(Held::check_in);
        }
        // What could not be written goes first and alone: a later report of the same endpoint must not overtake it.
        let reports = match std::mem::take(&mut self.unwritten) {
            unwritten if unwritten.is_empty() => self.reports(),
            unwritten => unwritten,
        };
        if reports.is_empty() && !is_looking {
            return None;
        }
        let room = is_looking.then(|| u32::try_from(self.room().min(MOST_TAKEN)).unwrap_or(u32::MAX));
        self.is_rung &= !is_looking;
        let round = Round { reports, room, lease: self.lease(), portion: self.parts.settings.portion() };
        Some(Box::pin(round.run(self.parts.db.clone())))
    }

    /// Takes up what a turn brought.
    fn apply(&mut self, result: RoundResult) {
        let has_taken = !result.taken.is_empty();
        let was_full = self.room() == 0;
        for reply in result.replies {
            let place = (reply.wallet, reply.lease);
            let Some(held) = self.held.get_mut(&place) else { continue };
            held.take(reply.claimed, result.now);
            if !reply.is_held {
                held.lose();
            }
            if held.is_over() {
                self.held.remove(&place);
            } else {
                self.enlist(place);
            }
        }
        for endpoint in result.taken {
            self.take(endpoint, result.now);
        }
        let routed: HashSet<Address> = result.routed.into_iter().collect();
        if !routed.is_empty() {
            self.held
                .iter_mut()
                .filter(|((wallet, _), _)| routed.contains(wallet))
                .for_each(|(_, held)| held.nudge());
        }
        if let Some((error, reports)) = result.failure {
            tracing::warn!(%error, "webhooks wait for the database");
            self.unwritten.extend(reports);
            self.blocked_until = Instant::now() + DATABASE_PAUSE;
        }
        let has_room = self.room() > 0;
        let wait = match result.next_due {
            Some(due) if has_room => Duration::from_millis(due.saturating_sub(result.now)),
            _ if has_room && was_full => Duration::ZERO,
            _ => self.parts.settings.look_every,
        };
        let least = if has_taken { Duration::ZERO } else { RIVAL_PAUSE };
        self.look_at = Instant::now() + wait.clamp(least, self.parts.settings.look_every);
    }
}

impl Worker {
    /// Takes an endpoint in its hands.
    fn take(&mut self, endpoint: TakenEndpoint, now: u64) {
        let place = (endpoint.wallet, endpoint.lease);
        let health = EndpointHealth {
            failures: endpoint.failures,
            failing_since: endpoint.failing_since,
            paused_until: 0,
        };
        match self.parts.keys.open_all(endpoint.wallet, &endpoint.secrets) {
            Ok(secrets) => {
                let target = Target { url: endpoint.url, secrets };
                let asked = self.parts.settings.portion().of(health.failures);
                let mut held = Held::new(place.0, place.1, target, health).asked(asked);
                held.take(endpoint.claimed, now);
                self.held.insert(place, held);
                self.enlist(place);
            }
            Err(error) => {
                tracing::error!(%error, wallet = %endpoint.wallet, "the secret of a webhook cannot be opened");
                let returned = endpoint.claimed.iter().map(|claimed| (claimed.id, claimed.attempt));
                self.unwritten.push(EndpointReport {
                    wallet: place.0,
                    lease: place.1,
                    health: EndpointHealth { paused_until: now + millis(LOCKED_PAUSE), ..health },
                    disabling: None,
                    finished: Vec::new(),
                    returned: returned.collect(),
                    wanted: 0,
                    is_busy: false,
                });
            }
        }
    }

    /// Draws the conclusions of an attempt.
    fn note(&mut self, done: Result<Done, JoinError>) {
        // An attempt catches its panics, and nobody aborts one.
        let Ok(done) = done else { return };
        self.failing -= usize::from(done.was_failing);
        let place = done.place;
        let seconds = done.duration_ms as f64 / 1_000.0;
        let now = unix_millis(self.now());
        let Some(held) = self.held.get_mut(&place) else { return };
        let was_disabled = held.disabled_reason().is_some();
        let after = held.finish(done, now);
        self.parts.metrics.attempted(after.into(), seconds);
        if let Some(reason) = held.disabled_reason()
            && !was_disabled
        {
            self.parts.metrics.disabled.inc();
            tracing::warn!(wallet = %place.0, reason, "a webhook is disabled until its owner saves it again");
        }
        self.enlist(place);
    }
}

/// Waits for a turn that is under way; none if there is none.
async fn finish(turn: &mut Option<Turn>) -> Option<RoundResult> {
    match turn {
        Some(turn) => Some(turn.await),
        None => None,
    }
}

/// A time as the store keeps it.
pub(crate) fn unix_millis(time: Timestamp) -> u64 {
    u64::try_from(time.as_millisecond()).unwrap_or(0)
}
