//! Deliveries as their owner sees them: the list, the attempts, sending one again; and forgetting old ones.

use alloy_primitives::Address;
use domain::portal::{DeliveryId, DeliveryState, EventId, EventType};
use sqlx::FromRow;

use super::{
    convert::parse_id,
    event::{EventRow, parse_kind},
    report::{AttemptRow, insert_attempts, status_column},
};
use crate::{
    Db, StoreError,
    convert::{parse_address, to_signed, to_unsigned},
};

/// Rows that are deleted in one go.
const PRUNED: i64 = 500;

/// A delivery. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRow {
    /// Names it.
    pub id: DeliveryId,
    /// What it tells.
    pub event_id: EventId,
    /// What sort of event that is.
    pub kind: EventType,
    /// Whom.
    pub wallet: Address,
    /// Where it stands.
    pub state: DeliveryState,
    /// How often it was tried.
    pub attempts: u64,
    /// When it may be tried.
    pub due_at: u64,
    /// The last answer's status.
    pub last_status: Option<u16>,
    /// Why the last attempt failed.
    pub last_error: Option<String>,
    /// When it was added.
    pub created_at: u64,
    /// When it was delivered or given up.
    pub finished_at: Option<u64>,
}

/// What became of sending something again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redelivery {
    /// It waits as this delivery of its own.
    Queued(DeliveryRow),
    /// The wallet has no such delivery.
    Unknown,
    /// The wallet has no webhook.
    NoWebhook,
}

const SELECT: &str = "SELECT portal_delivery.id, event_id, type AS kind, portal_delivery.wallet, state, attempts, \
                      due_at, last_status, last_error, portal_delivery.created_at, finished_at \
                      FROM portal_delivery JOIN portal_event ON portal_event.id = event_id";

#[derive(FromRow)]
struct RawDelivery {
    id: Vec<u8>,
    event_id: Vec<u8>,
    kind: String,
    wallet: Vec<u8>,
    state: String,
    attempts: i64,
    due_at: i64,
    last_status: Option<i16>,
    last_error: Option<String>,
    created_at: i64,
    finished_at: Option<i64>,
}

#[derive(FromRow)]
struct RawAttempt {
    attempt: i64,
    started_at: i64,
    duration_ms: i64,
    status: Option<i16>,
    error: Option<String>,
    response: Option<String>,
}

impl Db {
    /// A wallet's deliveries before this one, the last first; all states, or one.
    pub async fn list_deliveries(
        &self,
        wallet: Address,
        state: Option<DeliveryState>,
        before: Option<DeliveryId>,
        limit: u32,
    ) -> Result<Vec<DeliveryRow>, StoreError> {
        let sql = format!(
            "{SELECT} WHERE portal_delivery.wallet = $1 AND portal_delivery.id < $2 AND ($3 = '' OR state = $3) \
             ORDER BY portal_delivery.id DESC LIMIT $4"
        );
        let before = before.unwrap_or(DeliveryId::from_bytes([0xff; 16]));
        let rows: Vec<RawDelivery> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .bind(wallet.as_slice())
                .bind(before.as_bytes().as_slice())
                .bind(state.map_or("", DeliveryState::name))
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// A wallet's delivery and its attempts, the first one first.
    pub async fn find_delivery(
        &self,
        wallet: Address,
        id: DeliveryId,
    ) -> Result<Option<(DeliveryRow, Vec<AttemptRow>)>, StoreError> {
        let sql = format!("{SELECT} WHERE portal_delivery.id = $1 AND portal_delivery.wallet = $2");
        let row: Option<RawDelivery> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .bind(id.as_bytes().as_slice())
                .bind(wallet.as_slice())
                .fetch_optional(pool)
                .await
        })?;
        let Some(row) = row else { return Ok(None) };
        let sql = "SELECT attempt, started_at, duration_ms, status, error, response FROM portal_attempt \
                   WHERE delivery_id = $1 ORDER BY attempt";
        let attempts: Vec<RawAttempt> = on_readers!(self, pool => {
            sqlx::query_as(sql).bind(id.as_bytes().as_slice()).fetch_all(pool).await
        })?;
        let attempts: Result<_, StoreError> = attempts.into_iter().map(TryInto::try_into).collect();
        Ok(Some((row.try_into()?, attempts?)))
    }

    /// Lets the event of a wallet's delivery be sent again, as a delivery with an id of its own.
    pub async fn redeliver(
        &self,
        wallet: Address,
        former: DeliveryId,
        id: DeliveryId,
        now: u64,
    ) -> Result<Redelivery, StoreError> {
        if self.find_webhook(wallet).await?.is_none() {
            return Ok(Redelivery::NoWebhook);
        }
        let sql = "INSERT INTO portal_delivery (id, event_id, wallet, sequence, state, is_open, is_new, attempts, \
                   due_at, created_at) SELECT $1, event_id, wallet, sequence, 'pending', TRUE, TRUE, 0, $2, $2 \
                   FROM portal_delivery WHERE id = $3 AND wallet = $4 \
                   RETURNING id, event_id, (SELECT type FROM portal_event WHERE id = event_id) AS kind, wallet, state, \
                   attempts, due_at, last_status, last_error, created_at, finished_at";
        let now = to_signed("time", now)?;
        // As it was made: a worker may be at it the next moment.
        let added: Option<RawDelivery> = on_writer!(self, pool => {
            sqlx::query_as(sql)
                .bind(id.as_bytes().as_slice())
                .bind(now)
                .bind(former.as_bytes().as_slice())
                .bind(wallet.as_slice())
                .fetch_optional(pool)
                .await
        })?;
        Ok(match added {
            Some(row) => Redelivery::Queued(row.try_into()?),
            None => Redelivery::Unknown,
        })
    }

    /// Writes down a delivery that was made outside the queue, in one attempt.
    pub async fn add_single_delivery(
        &self,
        id: DeliveryId,
        event: &EventRow,
        attempt: &AttemptRow,
        state: DeliveryState,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO portal_delivery (id, event_id, wallet, sequence, state, is_open, is_new, attempts, \
                   due_at, last_status, last_error, created_at, finished_at) \
                   VALUES ($1, $2, $3, $4, $5, FALSE, FALSE, 1, $6, $7, $8, $6, $9)";
        let sequence = to_signed("sequence", event.sequence)?;
        let started = to_signed("time", attempt.started_at)?;
        let finished = to_signed("time", attempt.started_at + attempt.duration_ms)?;
        let mut tx = self.begin().await?;
        on_connection!(tx, connection => {
            sqlx::query(sql)
                .bind(id.as_bytes().as_slice())
                .bind(event.id.as_bytes().as_slice())
                .bind(event.wallet.as_slice())
                .bind(sequence)
                .bind(state.name())
                .bind(started)
                .bind(attempt.status.map(status_column))
                .bind(attempt.error.as_deref())
                .bind(finished)
                .execute(connection)
                .await
                .map(drop)
        })?;
        insert_attempts(&mut tx, &[(id, attempt)]).await?;
        tx.commit().await
    }

    /// Forgets deliveries that ended before a time, and events that were made before it and have none; gives deliveries up
    /// that were added before it and still wait. At most a few hundred of each: false once there are no more.
    pub async fn prune_deliveries(&self, before: u64, now: u64) -> Result<bool, StoreError> {
        let give_up = "UPDATE portal_delivery SET state = 'exhausted', is_open = FALSE, is_new = FALSE, \
                       finished_at = $1, last_error = 'not delivered in time' WHERE id IN \
                       (SELECT id FROM portal_delivery WHERE is_open AND created_at < $2 LIMIT $3)";
        let old = "SELECT id FROM portal_delivery WHERE finished_at IS NOT NULL AND finished_at < $1 \
                   ORDER BY finished_at, id LIMIT $2";
        let attempts = format!("DELETE FROM portal_attempt WHERE delivery_id IN ({old})");
        let deliveries = format!("DELETE FROM portal_delivery WHERE id IN ({old})");
        let events = "DELETE FROM portal_event WHERE id IN (SELECT id FROM portal_event WHERE created_at < $1 AND \
                      NOT EXISTS (SELECT 1 FROM portal_delivery WHERE event_id = portal_event.id) \
                      ORDER BY created_at LIMIT $2)";
        let (before, now) = (to_signed("time", before)?, to_signed("time", now)?);
        let mut tx = self.begin().await?;
        let pruned = on_connection!(tx, connection => {
            sqlx::query(give_up).bind(now).bind(before).bind(PRUNED).execute(&mut *connection).await?;
            let sql = sqlx::AssertSqlSafe(attempts);
            sqlx::query(sql).bind(before).bind(PRUNED).execute(&mut *connection).await?;
            let sql = sqlx::AssertSqlSafe(deliveries);
            let deliveries = sqlx::query(sql).bind(before).bind(PRUNED).execute(&mut *connection).await?;
            let events = sqlx::query(events).bind(before).bind(PRUNED).execute(connection).await?;
            deliveries.rows_affected() + events.rows_affected()
        });
        tx.commit().await?;
        Ok(pruned > 0)
    }
}

impl TryFrom<RawDelivery> for DeliveryRow {
    type Error = StoreError;

    fn try_from(raw: RawDelivery) -> Result<Self, StoreError> {
        let time = |time| to_unsigned("time of a delivery", time);
        Ok(Self {
            id: DeliveryId::from_bytes(parse_id("id of a delivery", &raw.id)?),
            event_id: EventId::from_bytes(parse_id("id of an event", &raw.event_id)?),
            kind: parse_kind(&raw.kind)?,
            wallet: parse_address("wallet of a delivery", &raw.wallet)?,
            state: raw.state.parse().map_err(|error| StoreError::corrupt("state of a delivery", error))?,
            attempts: to_unsigned("attempts of a delivery", raw.attempts)?,
            due_at: time(raw.due_at)?,
            last_status: raw.last_status.map(parse_status).transpose()?,
            last_error: raw.last_error,
            created_at: time(raw.created_at)?,
            finished_at: raw.finished_at.map(time).transpose()?,
        })
    }
}

impl TryFrom<RawAttempt> for AttemptRow {
    type Error = StoreError;

    fn try_from(raw: RawAttempt) -> Result<Self, StoreError> {
        Ok(Self {
            attempt: to_unsigned("number of an attempt", raw.attempt)?,
            started_at: to_unsigned("time of an attempt", raw.started_at)?,
            duration_ms: to_unsigned("time of an attempt", raw.duration_ms)?,
            status: raw.status.map(parse_status).transpose()?,
            error: raw.error,
            response: raw.response,
        })
    }
}

fn parse_status(status: i16) -> Result<u16, StoreError> {
    u16::try_from(status).map_err(|error| StoreError::corrupt("status of an answer", error))
}
