//! Events: what happened to a wallet's money, in the bytes that every delivery sends. Inserted by `credit`.

use alloy_primitives::Address;
use domain::portal::{EventId, EventType};
use sqlx::FromRow;

use super::convert::parse_id;
use crate::{
    Db, StoreError,
    convert::{parse_address, to_signed, to_unsigned},
};

/// An event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// Its id.
    pub id: EventId,
    /// Whose it is.
    pub wallet: Address,
    /// Its place among the wallet's events, from 1.
    pub sequence: u64,
    /// What happened.
    pub kind: EventType,
    /// What is sent, to the byte.
    pub body: Vec<u8>,
    /// When it happened, by the chain's time, in Unix milliseconds.
    pub created_at: u64,
}

#[derive(FromRow)]
struct RawEvent {
    id: Vec<u8>,
    wallet: Vec<u8>,
    sequence: i64,
    r#type: String,
    body: Vec<u8>,
    created_at: i64,
}

impl TryFrom<RawEvent> for EventRow {
    type Error = StoreError;

    fn try_from(raw: RawEvent) -> Result<Self, StoreError> {
        Ok(Self {
            id: EventId::from_bytes(parse_id("id of an event", &raw.id)?),
            wallet: parse_address("wallet of an event", &raw.wallet)?,
            sequence: to_unsigned("sequence of an event", raw.sequence)?,
            kind: raw.r#type.parse().map_err(|error| StoreError::corrupt("type of an event", error))?,
            body: raw.body,
            created_at: to_unsigned("time of an event", raw.created_at)?,
        })
    }
}

impl Db {
    /// The event with this id.
    pub async fn find_event(&self, id: EventId) -> Result<Option<EventRow>, StoreError> {
        let sql = "SELECT id, wallet, sequence, type, body, created_at FROM portal_event WHERE id = $1";
        let raw: Option<RawEvent> = on_readers!(self, pool => {
            sqlx::query_as(sql).bind(id.as_bytes().as_slice()).fetch_optional(pool).await
        })?;
        raw.map(TryInto::try_into).transpose()
    }

    /// A wallet's events before a sequence number, newest first.
    pub async fn list_events(
        &self,
        wallet: Address,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        let sql = "SELECT id, wallet, sequence, type, body, created_at FROM portal_event \
                   WHERE wallet = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3";
        let before = before.map_or(Ok(i64::MAX), |before| to_signed("sequence", before))?;
        let rows: Vec<RawEvent> = on_readers!(self, pool => {
            sqlx::query_as(sql)
                .bind(wallet.as_slice())
                .bind(before)
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(TryInto::try_into).collect()
    }
}
