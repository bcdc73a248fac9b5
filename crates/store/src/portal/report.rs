//! What became of attempts: many of them, of many endpoints, in one transaction that also takes what is to be sent next.

use std::collections::BTreeMap;

use alloy_primitives::Address;
use domain::portal::{DeliveryId, DeliveryState, WebhookState};

use super::{
    audit::{AuditRow, insert_audit},
    queue::{ClaimedDelivery, Lease, claim, release},
};
use crate::{
    Db, StoreError,
    bulk::{Bulk, chunks, list_text},
    convert::to_signed,
    db::Tx,
};

/// An attempt that is over. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttemptRow {
    /// Which one, from 1.
    pub attempt: u64,
    /// When it began.
    pub started_at: u64,
    /// How long it took.
    pub duration_ms: u64,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// Why it failed.
    pub error: Option<String>,
    /// The first bytes of the answer, as text.
    pub response: Option<String>,
}

/// What follows from an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterAttempt {
    /// The delivery is made.
    Delivered,
    /// It is tried again at this time.
    RetryAt(u64),
    /// It is given up.
    Exhausted,
}

/// A delivery and its last attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FinishedAttempt {
    /// The delivery.
    pub id: DeliveryId,
    /// The attempt.
    pub attempt: AttemptRow,
    /// What follows.
    pub after: AfterAttempt,
}

/// How an endpoint is doing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EndpointHealth {
    /// How often in a row it failed.
    pub failures: u64,
    /// Since when.
    pub failing_since: Option<u64>,
    /// Before this nothing is sent to it.
    pub paused_until: u64,
}

/// Why an endpoint is disabled, and the entry of the audit log that tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disabling {
    /// The reason, for its owner.
    pub reason: String,
    /// The entry.
    pub audit: AuditRow,
}

/// What a worker has to say of an endpoint that it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointReport {
    /// Whose.
    pub wallet: Address,
    /// The taking.
    pub lease: u64,
    /// How it is doing now.
    pub health: EndpointHealth,
    /// Whether it is to be disabled.
    pub disabling: Option<Disabling>,
    /// Attempts that are over.
    pub finished: Vec<FinishedAttempt>,
    /// Deliveries that were taken for this attempt and not tried: they wait again, and the attempt does not count.
    pub returned: Vec<(DeliveryId, u64)>,
    /// How many deliveries to take now.
    pub wanted: u32,
    /// Whether the worker has others of its deliveries. If not, and nothing is taken, the endpoint is given back.
    pub is_busy: bool,
}

/// What a worker is told in return.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointReply {
    /// Whose.
    pub wallet: Address,
    /// The taking that the report was of.
    pub lease: u64,
    /// Whether the worker still has the endpoint.
    pub is_held: bool,
    /// What to send next, in order.
    pub claimed: Vec<ClaimedDelivery>,
}

impl Db {
    /// Writes down what became of attempts and takes what is wanted, endpoint by endpoint.
    ///
    /// Of an endpoint that somebody else has taken meanwhile the attempts are still written down, and nothing is taken.
    pub async fn report_attempts(
        &self,
        reports: &mut [EndpointReport],
        lease: Lease,
    ) -> Result<Vec<EndpointReply>, StoreError> {
        // The order in which everybody writes endpoints.
        reports.sort_unstable_by_key(|report| report.wallet);
        let mut tx = self.begin().await?;
        let mut replies = Vec::with_capacity(reports.len());
        for report in reports.iter() {
            replies.push(EndpointReply {
                wallet: report.wallet,
                lease: report.lease,
                is_held: hold(&mut tx, report, lease).await?,
                claimed: Vec::new(),
            });
        }
        let now = to_signed("time", lease.now)?;
        move_on(&mut tx, reports, &replies, now).await?;
        let mut idle = Vec::new();
        for (report, reply) in reports.iter().zip(&mut replies).filter(|(_, reply)| reply.is_held) {
            if report.disabling.is_none() && report.wanted > 0 {
                reply.claimed = claim(&mut tx, report.wallet, lease, report.wanted).await?;
            }
            if !report.is_busy && reply.claimed.is_empty() {
                reply.is_held = false;
                idle.push(report.wallet);
            }
        }
        release(&mut tx, &idle).await?;
        tx.commit().await?;
        Ok(replies)
    }
}

/// Moves deliveries on. The rows of their endpoints are held.
async fn move_on(
    tx: &mut Tx,
    reports: &[EndpointReport],
    replies: &[EndpointReply],
    now: i64,
) -> Result<(), StoreError> {
    let mut delivered: BTreeMap<Option<u16>, Vec<DeliveryId>> = BTreeMap::new();
    for (report, reply) in reports.iter().zip(replies) {
        for finished in &report.finished {
            match finished.after {
                AfterAttempt::Delivered => {
                    delivered.entry(finished.attempt.status).or_default().push(finished.id);
                }
                AfterAttempt::RetryAt(_) | AfterAttempt::Exhausted => {
                    fail(tx, finished, reply.is_held, now).await?;
                }
            }
        }
        for (id, attempt) in &report.returned {
            put_back(tx, *id, *attempt, reply.is_held, now).await?;
        }
    }
    for (status, ids) in delivered {
        deliver(tx, &ids, status, now).await?;
    }
    let finished = reports.iter().flat_map(|report| &report.finished);
    let attempts: Vec<_> = finished.map(|finished| (finished.id, &finished.attempt)).collect();
    insert_attempts(tx, &attempts).await
}

/// Writes the endpoint's row. False when it is somebody else's by now.
async fn hold(tx: &mut Tx, report: &EndpointReport, lease: Lease) -> Result<bool, StoreError> {
    let sql = "UPDATE portal_webhook SET leased_until = $1, failures = $2, failing_since = $3, paused_until = $4, \
               delivered_count = delivered_count + $5, failed_count = failed_count + $6 \
               WHERE wallet = $7 AND lease = $8 RETURNING lease";
    let count = "UPDATE portal_webhook SET delivered_count = delivered_count + $1, failed_count = failed_count + $2 \
                 WHERE wallet = $3";
    let is_delivered = |finished: &&FinishedAttempt| finished.after == AfterAttempt::Delivered;
    let delivered = report.finished.iter().filter(is_delivered).count();
    let failed = to_signed("number", (report.finished.len() - delivered) as u64)?;
    let delivered = to_signed("number", delivered as u64)?;
    let health = &report.health;
    let since = health.failing_since.map(|since| to_signed("time", since)).transpose()?;
    let (until, paused) = (to_signed("time", lease.until)?, to_signed("time", health.paused_until)?);
    let (failures, number) = (to_signed("failures", health.failures)?, to_signed("lease", report.lease)?);
    let held: Option<i64> = on_connection!(tx, connection => {
        sqlx::query_scalar(sql)
            .bind(until)
            .bind(failures)
            .bind(since)
            .bind(paused)
            .bind(delivered)
            .bind(failed)
            .bind(report.wallet.as_slice())
            .bind(number)
            .fetch_optional(connection)
            .await
    })?;
    if held.is_none() {
        on_connection!(tx, connection => {
            sqlx::query(count).bind(delivered).bind(failed).bind(report.wallet.as_slice()).execute(connection).await
                .map(drop)
        })?;
        return Ok(false);
    }
    if let Some(disabling) = &report.disabling {
        disable(tx, report.wallet, disabling).await?;
    }
    Ok(true)
}

async fn disable(tx: &mut Tx, wallet: Address, disabling: &Disabling) -> Result<(), StoreError> {
    let sql = "UPDATE portal_webhook SET state = $1, disabled_reason = $2, disabled_at = $3, due_at = NULL \
               WHERE wallet = $4";
    let at = to_signed("time", disabling.audit.at)?;
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(WebhookState::Disabled.name())
            .bind(&disabling.reason)
            .bind(at)
            .bind(wallet.as_slice())
            .execute(connection)
            .await
            .map(drop)
    })?;
    insert_audit(tx, &disabling.audit).await
}

/// Closes deliveries that were made. A success counts whenever it comes.
async fn deliver(tx: &mut Tx, ids: &[DeliveryId], status: Option<u16>, now: i64) -> Result<(), StoreError> {
    let sql = "UPDATE portal_delivery SET state = 'delivered', is_open = FALSE, is_new = FALSE, finished_at = $1, \
               last_status = $2, last_error = NULL WHERE id IN ({list}) AND is_open";
    for ids in chunks(ids) {
        let text = list_text(sql, 3, ids.len());
        on_connection!(tx, connection => {
            let query = sqlx::query(text).bind(now).bind(status.map(status_column));
            let query = ids.iter().fold(query, |query, id| query.bind(id.as_bytes().to_vec()));
            query.execute(connection).await.map(drop)
        })?;
    }
    Ok(())
}

/// Lets a delivery wait that failed, or gives it up, if nobody has tried again meanwhile. If the endpoint is somebody else's
/// by now, that one has to hear of it.
async fn fail(tx: &mut Tx, finished: &FinishedAttempt, is_held: bool, now: i64) -> Result<(), StoreError> {
    let sql = "UPDATE portal_delivery SET state = $1, is_open = $2, is_new = $3, due_at = $4, finished_at = $5, \
               last_status = $6, last_error = $7 WHERE id = $8 AND is_open AND attempts = $9";
    let (state, due) = match finished.after {
        AfterAttempt::RetryAt(at) => (DeliveryState::Pending, to_signed("time", at)?),
        AfterAttempt::Delivered | AfterAttempt::Exhausted => (DeliveryState::Exhausted, now),
    };
    let is_open = state == DeliveryState::Pending;
    let attempt = to_signed("attempt", finished.attempt.attempt)?;
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(state.name())
            .bind(is_open)
            .bind(is_open && !is_held)
            .bind(due)
            .bind((!is_open).then_some(now))
            .bind(finished.attempt.status.map(status_column))
            .bind(finished.attempt.error.as_deref())
            .bind(finished.id.as_bytes().as_slice())
            .bind(attempt)
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

static ATTEMPTS: Bulk = Bulk::new(
    "portal_attempt",
    &["delivery_id", "attempt", "started_at", "duration_ms", "status", "error", "response"],
    " ON CONFLICT (delivery_id, attempt) DO NOTHING",
);

/// Writes attempts down. One that is there stays as it is.
pub(super) async fn insert_attempts(
    tx: &mut Tx,
    attempts: &[(DeliveryId, &AttemptRow)],
) -> Result<(), StoreError> {
    // They count milliseconds and attempts: nothing that does not fit.
    let column = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
    on_connection!(tx, connection => ATTEMPTS.insert(connection, attempts, |query, (delivery, row)| {
        query
            .bind(delivery.as_bytes().to_vec())
            .bind(column(row.attempt))
            .bind(column(row.started_at))
            .bind(column(row.duration_ms))
            .bind(row.status.map(status_column))
            .bind(row.error.clone())
            .bind(row.response.clone())
    }).await)
}

/// Lets a delivery wait again that was taken and not tried.
async fn put_back(
    tx: &mut Tx,
    id: DeliveryId,
    attempt: u64,
    is_held: bool,
    now: i64,
) -> Result<(), StoreError> {
    let sql = "UPDATE portal_delivery SET attempts = attempts - 1, due_at = $1, is_new = $2 \
               WHERE id = $3 AND is_open AND attempts = $4";
    let attempt = to_signed("attempt", attempt)?;
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(now)
            .bind(!is_held)
            .bind(id.as_bytes().as_slice())
            .bind(attempt)
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

/// A status of HTTP has three digits.
pub(super) fn status_column(status: u16) -> i16 {
    i16::try_from(status).unwrap_or(i16::MAX)
}
