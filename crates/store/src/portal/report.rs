//! What became of attempts: many of them, of many endpoints, in one transaction that also takes what is to be sent next.

use alloy_primitives::Address;
use domain::portal::{DeliveryId, DeliveryState, WebhookState};

use super::{
    audit::{AuditRow, insert_audit},
    queue::{ClaimedDelivery, Lease, claim, release},
};
use crate::{Db, StoreError, convert::to_signed, db::Tx};

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
            replies.push(report_endpoint(&mut tx, report, lease).await?);
        }
        tx.commit().await?;
        Ok(replies)
    }
}

async fn report_endpoint(
    tx: &mut Tx,
    report: &EndpointReport,
    lease: Lease,
) -> Result<EndpointReply, StoreError> {
    let is_held = hold(tx, report, lease).await?;
    for finished in &report.finished {
        close(tx, finished, is_held, lease.now).await?;
        insert_attempt(tx, finished.id, &finished.attempt).await?;
    }
    for (id, attempt) in &report.returned {
        put_back(tx, *id, *attempt, is_held, lease.now).await?;
    }
    let mut reply =
        EndpointReply { wallet: report.wallet, lease: report.lease, is_held, claimed: Vec::new() };
    if !is_held {
        return Ok(reply);
    }
    if report.disabling.is_none() && report.wanted > 0 {
        reply.claimed = claim(tx, report.wallet, lease, report.wanted).await?;
    }
    if !report.is_busy && reply.claimed.is_empty() {
        release(tx, report.wallet).await?;
        reply.is_held = false;
    }
    Ok(reply)
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

/// Moves a delivery on. A success counts whenever it comes; a failure only if nobody has tried again meanwhile. If the
/// endpoint is somebody else's by now, that one has to hear of it.
async fn close(tx: &mut Tx, finished: &FinishedAttempt, is_held: bool, now: u64) -> Result<(), StoreError> {
    let sql = "UPDATE portal_delivery SET state = $1, is_open = $2, is_new = $3, due_at = $4, finished_at = $5, \
               last_status = $6, last_error = $7 WHERE id = $8 AND is_open AND ($9 OR attempts = $10)";
    let now = to_signed("time", now)?;
    let (state, due) = match finished.after {
        AfterAttempt::Delivered => (DeliveryState::Delivered, now),
        AfterAttempt::Exhausted => (DeliveryState::Exhausted, now),
        AfterAttempt::RetryAt(at) => (DeliveryState::Pending, to_signed("time", at)?),
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
            .bind(state == DeliveryState::Delivered)
            .bind(attempt)
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

pub(super) async fn insert_attempt(
    tx: &mut Tx,
    delivery: DeliveryId,
    row: &AttemptRow,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO portal_attempt (delivery_id, attempt, started_at, duration_ms, status, error, response) \
               VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (delivery_id, attempt) DO NOTHING";
    let attempt = to_signed("attempt", row.attempt)?;
    let (started, took) = (to_signed("time", row.started_at)?, to_signed("time", row.duration_ms)?);
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(delivery.as_bytes().as_slice())
            .bind(attempt)
            .bind(started)
            .bind(took)
            .bind(row.status.map(status_column))
            .bind(row.error.as_deref())
            .bind(row.response.as_deref())
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

/// Lets a delivery wait again that was taken and not tried.
async fn put_back(
    tx: &mut Tx,
    id: DeliveryId,
    attempt: u64,
    is_held: bool,
    now: u64,
) -> Result<(), StoreError> {
    let sql = "UPDATE portal_delivery SET attempts = attempts - 1, due_at = $1, is_new = $2 \
               WHERE id = $3 AND is_open AND attempts = $4";
    let (now, attempt) = (to_signed("time", now)?, to_signed("attempt", attempt)?);
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
