//! An endpoint that this worker has: what is to be sent to it, what is under way, and what became of it.

use std::{collections::VecDeque, sync::Arc};

use alloy_primitives::Address;
use bytes::Bytes;
use domain::portal::{Actor, AuditAction, AuditId, DeliveryId, EventType};
use store::portal::{
    AfterAttempt, AttemptRow, AuditRow, ClaimedDelivery, Disabling, EndpointHealth, EndpointReport,
    FinishedAttempt,
};

use super::Place;
use crate::{
    schedule::{DISABLED_AFTER, MOST_ATTEMPTS, PROBED_AFTER, delay_after, pause_after},
    secret::Secrets,
    sender::{Answer, Message, SendError},
    settings::{WorkerSettings, millis},
};

/// Where to, and what signs.
pub(super) struct Target {
    pub(super) url: String,
    pub(super) secrets: Secrets,
}

/// A delivery that may be sent.
#[derive(Debug)]
pub(super) struct Job {
    pub(super) message: Message,
    pub(super) sequence: u64,
    /// When it was taken, in Unix milliseconds.
    taken_at: u64,
}

impl Job {
    fn new(claimed: ClaimedDelivery, taken_at: u64) -> Self {
        let message = Message {
            event_id: claimed.event_id,
            kind: claimed.kind,
            delivery_id: claimed.id,
            attempt: claimed.attempt,
            body: Bytes::from(claimed.body),
        };
        Self { message, sequence: claimed.sequence, taken_at }
    }
}

/// An attempt that is over.
pub(super) struct Done {
    pub(super) place: Place,
    /// Whether the endpoint had failed before.
    pub(super) was_failing: bool,
    pub(super) job: Job,
    /// When it began, in Unix milliseconds.
    pub(super) started_at: u64,
    pub(super) duration_ms: u64,
    pub(super) result: Result<Answer, SendError>,
}

/// An endpoint that this worker has.
pub(super) struct Held {
    wallet: Address,
    lease: u64,
    pub(super) target: Arc<Target>,
    health: EndpointHealth,
    ready: VecDeque<Job>,
    /// Places of the events that are under way.
    under_way: Vec<u64>,
    finished: Vec<FinishedAttempt>,
    returned: Vec<(DeliveryId, u64)>,
    /// It is to be disabled.
    disabling: Option<Disabling>,
    is_disabled: bool,
    /// Whether something new may be there for it.
    is_nudged: bool,
    /// How many were wanted when it was last asked for more.
    asked: u32,
    /// Whether there were fewer: until something is added there is nothing to take.
    is_drained: bool,
    /// Whether it is somebody else's by now: what is under way may end, and is written down.
    is_lost: bool,
    pub(super) is_in_ring: bool,
}

impl Held {
    pub(super) fn new(wallet: Address, lease: u64, target: Target, health: EndpointHealth) -> Self {
        Self {
            wallet,
            lease,
            target: Arc::new(target),
            health,
            ready: VecDeque::new(),
            under_way: Vec::new(),
            finished: Vec::new(),
            returned: Vec::new(),
            disabling: None,
            is_disabled: false,
            is_nudged: false,
            asked: 0,
            is_drained: false,
            is_lost: false,
            is_in_ring: false,
        }
    }

    /// Says how many deliveries were asked for.
    pub(super) fn asked(mut self, asked: u32) -> Self {
        self.asked = asked;
        self
    }

    /// Takes what was claimed in its hands. What never comes to an end, because we do not live to see it, is given up.
    pub(super) fn take(&mut self, claimed: Vec<ClaimedDelivery>, now: u64) {
        self.is_drained |= claimed.len() < self.asked as usize;
        self.asked = 0;
        for claimed in claimed {
            if claimed.attempt <= MOST_ATTEMPTS {
                self.ready.push_back(Job::new(claimed, now));
                continue;
            }
            let error = "no attempt came to an end".to_owned();
            let attempt = AttemptRow {
                attempt: claimed.attempt,
                started_at: now,
                duration_ms: 0,
                status: None,
                error: Some(error),
                response: None,
            };
            self.finished.push(FinishedAttempt { id: claimed.id, attempt, after: AfterAttempt::Exhausted });
        }
    }

    /// Something may have been added.
    pub(super) fn nudge(&mut self) {
        self.is_nudged = true;
        self.is_drained = false;
    }

    /// Asks whether it is still ours, if something waits for an attempt to end: its owner may have saved another URL.
    pub(super) fn check_in(&mut self) {
        self.is_nudged |= !self.ready.is_empty();
    }

    /// It was given back, or is somebody else's: nothing more is started.
    pub(super) fn lose(&mut self) {
        self.is_lost = true;
        self.return_ready();
    }

    /// Whether there is nothing left to do about one that was lost.
    pub(super) fn is_over(&self) -> bool {
        self.is_lost && self.under_way.is_empty() && self.finished.is_empty() && self.returned.is_empty()
    }

    pub(super) fn has_failed(&self) -> bool {
        self.health.failures > 0
    }

    fn allowed(&self, settings: &WorkerSettings) -> usize {
        if self.health.failures >= PROBED_AFTER { 1 } else { settings.in_flight_per_endpoint }
    }

    /// The next delivery to start, if one may be. An invoice's payment is told before the invoice: while the event right
    /// before it is under way, `invoice.paid` waits and others go first.
    pub(super) fn next_job(&mut self, settings: &WorkerSettings, now: u64) -> Option<Job> {
        if self.is_lost || self.is_disabled || self.under_way.len() >= self.allowed(settings) {
            return None;
        }
        let stale = |job: &Job| job.taken_at.saturating_add(millis(settings.lease) / 2) <= now;
        if self.ready.iter().any(stale) {
            self.return_ready();
            return None;
        }
        let waits = |job: &Job| {
            job.message.kind == EventType::InvoicePaid
                && job.sequence.checked_sub(1).is_some_and(|before| self.under_way.contains(&before))
        };
        let place = self.ready.iter().position(|job| !waits(job))?;
        let job = self.ready.remove(place)?;
        self.under_way.push(job.sequence);
        Some(job)
    }

    /// Lets what has not been started wait again.
    pub(super) fn return_ready(&mut self) {
        self.is_drained &= self.ready.is_empty();
        let jobs = self.ready.drain(..);
        self.returned.extend(jobs.map(|job| (job.message.delivery_id, job.message.attempt)));
    }

    /// Draws the conclusions of an attempt.
    pub(super) fn finish(&mut self, done: Done, now: u64) -> AfterAttempt {
        if let Some(place) = self.under_way.iter().position(|sequence| *sequence == done.job.sequence) {
            self.under_way.swap_remove(place);
        }
        let finished = conclude(&done, now);
        let after = finished.after;
        self.finished.push(finished);
        if after == AfterAttempt::Delivered {
            self.health = EndpointHealth::default();
        } else {
            self.fail(&done, now);
        }
        after
    }

    fn fail(&mut self, done: &Done, now: u64) {
        self.return_ready();
        self.health.failures += 1;
        let since = *self.health.failing_since.get_or_insert(now);
        let answer = done.result.as_ref().ok();
        let asked = answer.and_then(|answer| answer.retry_after).map_or(0, millis);
        let pause = pause_after(self.health.failures, rand::random()).map_or(0, millis);
        self.health.paused_until = now.saturating_add(asked.max(pause));
        let reason = if answer.is_some_and(|answer| answer.status == hyper::StatusCode::GONE) {
            "the endpoint answered 410 Gone"
        } else if now.saturating_sub(since) >= millis(DISABLED_AFTER) {
            "nothing could be delivered for 5 days"
        } else {
            return;
        };
        if self.is_disabled {
            return;
        }
        let audit = AuditRow {
            id: AuditId::new(now, rand::random()),
            wallet: Some(self.wallet),
            actor: Actor::System,
            action: AuditAction::WebhookDisabled,
            target: host_of(&self.target.url),
            origin: None,
            at: now,
        };
        self.is_disabled = true;
        self.disabling = Some(Disabling { reason: reason.to_owned(), audit });
    }

    /// Why it is to be disabled, as long as that is not written down.
    pub(super) fn disabled_reason(&self) -> Option<&str> {
        self.disabling.as_ref().map(|disabling| disabling.reason.as_str())
    }

    /// What there is to say of it, if there is anything.
    pub(super) fn report(&mut self, settings: &WorkerSettings, now: u64) -> Option<EndpointReport> {
        if self.finished.is_empty() && self.returned.is_empty() && !self.is_nudged {
            return None;
        }
        self.is_nudged = false;
        let in_hand = self.ready.len() + self.under_way.len();
        let wanted = match self.health.failures {
            _ if self.is_lost || self.is_disabled || self.is_drained || self.health.paused_until > now => 0,
            0 => settings.ahead as usize,
            _ => self.allowed(settings),
        };
        self.asked = u32::try_from(wanted.saturating_sub(in_hand)).unwrap_or(0);
        Some(EndpointReport {
            wallet: self.wallet,
            lease: self.lease,
            health: self.health.clone(),
            disabling: self.disabling.take(),
            finished: std::mem::take(&mut self.finished),
            returned: std::mem::take(&mut self.returned),
            wanted: self.asked,
            is_busy: in_hand > 0,
        })
    }
}

/// What follows from an attempt.
fn conclude(done: &Done, now: u64) -> FinishedAttempt {
    let number = done.job.message.attempt;
    let (status, error, response) = match &done.result {
        Ok(answer) => {
            let error =
                (!answer.status.is_success()).then(|| format!("the endpoint answered {}", answer.status));
            (Some(answer.status.as_u16()), error, Some(answer.body.clone()))
        }
        Err(error) => (None, Some(describe(error)), None),
    };
    let asked = done.result.as_ref().ok().and_then(|answer| answer.retry_after).unwrap_or_default();
    let after = match delay_after(number, rand::random()) {
        _ if error.is_none() => AfterAttempt::Delivered,
        Some(delay) => AfterAttempt::RetryAt(now.saturating_add(millis(delay.max(asked)))),
        None => AfterAttempt::Exhausted,
    };
    let attempt = AttemptRow {
        attempt: number,
        started_at: done.started_at,
        duration_ms: done.duration_ms,
        status,
        error,
        response,
    };
    FinishedAttempt { id: done.job.message.delivery_id, attempt, after }
}

/// An error with what is behind it, for the endpoint's owner.
pub(crate) fn describe(error: &SendError) -> String {
    let mut text = error.to_string();
    let mut next = std::error::Error::source(error);
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        next = cause.source();
    }
    text
}

/// The host of a URL, for the audit log: a path may hold what its owner keeps to itself.
pub(crate) fn host_of(url: &str) -> String {
    let url = url::Url::parse(url).ok();
    url.and_then(|url| url.host_str().map(str::to_owned)).unwrap_or_default()
}
