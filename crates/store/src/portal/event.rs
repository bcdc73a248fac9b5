//! Events: what happened to a wallet's money, in the bytes that are sent for ever.

use alloy_primitives::Address;
use domain::portal::{DeliveryId, EventId, EventType};
use sqlx::FromRow;

use crate::{
    Db, StoreError,
    convert::{parse_address, to_signed, to_unsigned},
    db::Tx,
    portal::convert::parse_id,
};

/// An event. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// Names it.
    pub id: EventId,
    /// Whose.
    pub wallet: Address,
    /// Its place among the wallet's events.
    pub sequence: u64,
    /// What happened.
    pub kind: EventType,
    /// What every delivery sends.
    pub body: Vec<u8>,
    /// When it was made.
    pub created_at: u64,
}

const COLUMNS: &str = "id, wallet, sequence, type, body, created_at";

#[derive(FromRow)]
struct RawEvent {
    id: Vec<u8>,
    wallet: Vec<u8>,
    sequence: i64,
    r#type: String,
    body: Vec<u8>,
    created_at: i64,
}

impl Db {
    /// Adds an event, whose body is made from its place among the wallet's events; with the id of a delivery it waits to
    /// be sent. None when there is no such wallet.
    pub async fn add_event(
        &self,
        (id, kind): (EventId, EventType),
        wallet: Address,
        delivery: Option<DeliveryId>,
        at: u64,
        body: impl FnOnce(u64) -> Vec<u8> + Send,
    ) -> Result<Option<EventRow>, StoreError> {
        let mut tx = self.begin().await?;
        let Some(sequence) = next_sequence(&mut tx, wallet).await? else { return Ok(None) };
        let event = EventRow { id, wallet, sequence, kind, body: body(sequence), created_at: at };
        insert_event(&mut tx, &event).await?;
        if let Some(delivery) = delivery {
            queue_event(&mut tx, delivery, &event).await?;
        }
        tx.commit().await?;
        Ok(Some(event))
    }

    /// A wallet's events before this place, the last first.
    pub async fn list_events(
        &self,
        wallet: Address,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM portal_event WHERE wallet = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3"
        );
        let before = before.map_or(Ok(i64::MAX), |before| to_signed("sequence", before))?;
        let rows: Vec<RawEvent> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .bind(wallet.as_slice())
                .bind(before)
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(TryInto::try_into).collect()
    }
}

/// Takes the next place among a wallet's events, and with it the wallet's row. None when there is no such wallet.
pub(crate) async fn next_sequence(tx: &mut Tx, wallet: Address) -> Result<Option<u64>, StoreError> {
    let sql = "UPDATE portal_wallet SET sequence = sequence + 1 WHERE address = $1 RETURNING sequence";
    let sequence: Option<i64> = on_connection!(tx, connection => {
        sqlx::query_scalar(sql).bind(wallet.as_slice()).fetch_optional(connection).await
    })?;
    sequence.map(|sequence| to_unsigned("sequence of a wallet", sequence)).transpose()
}

/// Adds an event; nobody is told by this alone.
pub(crate) async fn insert_event(tx: &mut Tx, event: &EventRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO portal_event (id, wallet, sequence, type, body, created_at) \
               VALUES ($1, $2, $3, $4, $5, $6)";
    let sequence = to_signed("sequence", event.sequence)?;
    let at = to_signed("time", event.created_at)?;
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(event.id.as_bytes().as_slice())
            .bind(event.wallet.as_slice())
            .bind(sequence)
            .bind(event.kind.name())
            .bind(event.body.as_slice())
            .bind(at)
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

/// Lets an event be delivered, if its wallet has a webhook. The endpoint's row is not written: see `is_new`.
pub(crate) async fn queue_event(tx: &mut Tx, id: DeliveryId, event: &EventRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO portal_delivery (id, event_id, wallet, sequence, state, is_open, is_new, attempts, due_at, \
               created_at) SELECT $1, $2, wallet, $3, 'pending', TRUE, TRUE, 0, $4, $4 FROM portal_webhook \
               WHERE wallet = $5";
    let sequence = to_signed("sequence", event.sequence)?;
    let at = to_signed("time", event.created_at)?;
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(id.as_bytes().as_slice())
            .bind(event.id.as_bytes().as_slice())
            .bind(sequence)
            .bind(at)
            .bind(event.wallet.as_slice())
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

pub(super) fn parse_kind(text: &str) -> Result<EventType, StoreError> {
    text.parse().map_err(|error| StoreError::corrupt("type of an event", error))
}

impl TryFrom<RawEvent> for EventRow {
    type Error = StoreError;

    fn try_from(raw: RawEvent) -> Result<Self, StoreError> {
        Ok(Self {
            id: EventId::from_bytes(parse_id("id of an event", &raw.id)?),
            wallet: parse_address("wallet of an event", &raw.wallet)?,
            sequence: to_unsigned("sequence of an event", raw.sequence)?,
            kind: parse_kind(&raw.r#type)?,
            body: raw.body,
            created_at: to_unsigned("time of an event", raw.created_at)?,
        })
    }
}
