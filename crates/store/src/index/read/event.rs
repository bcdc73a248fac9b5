//! Events of our contracts.

use std::{fmt::Write, ops::RangeInclusive};

use alloy_primitives::Address;
use sqlx::AssertSqlSafe;

use super::limit;
use crate::{
    Db, StoreError,
    convert::{parse_hash, to_unsigned},
    index::{
        ContractEvent, EventKind, EventRow,
        place::{END, parts, place, upper_end},
    },
};

/// Which events are asked for.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    /// Whom they are about, see [`ContractEvent::subject`].
    pub subject: Option<Address>,
    /// Which kinds; none for all.
    pub kinds: Vec<EventKind>,
    /// Before this block and log index.
    pub before: Option<(u64, u32)>,
}

#[derive(sqlx::FromRow)]
struct Row {
    place: i64,
    transaction_place: i64,
    hash: Vec<u8>,
    timestamp: i64,
    event: String,
}

impl Db {
    /// Events of our contracts, newest first.
    pub async fn contract_events(
        &self,
        filter: &EventFilter,
        most: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        let subject = match filter.subject {
            None => None,
            Some(address) => match self.account_number(address).await? {
                None => return Ok(Vec::new()),
                found => found,
            },
        };
        let text = statement(filter);
        let rows: Vec<Row> = on_readers!(self, pool => {
            let query = sqlx::query_as(AssertSqlSafe(text)).bind(upper_end(filter.before)).bind(limit(most));
            let query = if let Some(subject) = subject { query.bind(subject) } else { query };
            query.fetch_all(pool).await
        })?;
        rows.into_iter().map(EventRow::try_from).collect()
    }
}

impl Db {
    /// Events of some kinds in some blocks, oldest first; at most so many.
    pub async fn contract_events_in(
        &self,
        kinds: &[EventKind],
        blocks: RangeInclusive<u64>,
        most: u32,
    ) -> Result<Vec<EventRow>, StoreError> {
        let kinds: Vec<_> = kinds.iter().map(|kind| kind.number().to_string()).collect();
        let text = format!(
            "SELECT e.place, e.transaction_place, t.hash, b.timestamp, e.event FROM (SELECT * FROM contract_events \
             WHERE place >= $1 AND place < $2 AND kind IN ({}) ORDER BY place LIMIT $3) e \
             JOIN transactions t ON t.place = e.transaction_place JOIN blocks b ON b.number = e.place / 1048576 \
             ORDER BY e.place",
            kinds.join(", ")
        );
        let start = place(*blocks.start(), 0)?;
        let end = blocks.end().checked_add(1).map_or(Ok(END), |after| place(after, 0))?;
        let rows: Vec<Row> = on_readers!(self, pool => {
            sqlx::query_as(AssertSqlSafe(text))
                .bind(start)
                .bind(end)
                .bind(i64::from(most))
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(EventRow::try_from).collect()
    }
}

/// The text for a filter. Only our own numbers become part of it.
fn statement(filter: &EventFilter) -> String {
    let mut places = String::from("SELECT * FROM contract_events WHERE place < $1");
    if filter.subject.is_some() {
        places.push_str(" AND subject = $3");
    }
    if !filter.kinds.is_empty() {
        let kinds: Vec<_> = filter.kinds.iter().map(|kind| kind.number().to_string()).collect();
        // Writing to a string cannot fail.
        let _ = write!(places, " AND kind IN ({})", kinds.join(", "));
    }
    format!(
        "SELECT e.place, e.transaction_place, t.hash, b.timestamp, e.event \
         FROM ({places} ORDER BY place DESC LIMIT $2) e JOIN transactions t ON t.place = e.transaction_place \
         JOIN blocks b ON b.number = e.place / 1048576 ORDER BY e.place DESC"
    )
}

impl TryFrom<Row> for EventRow {
    type Error = StoreError;

    fn try_from(row: Row) -> Result<Self, StoreError> {
        let (block_number, log_index) = parts(row.place);
        let event: ContractEvent =
            serde_json::from_str(&row.event).map_err(|error| StoreError::corrupt("event", error))?;
        Ok(Self {
            block_number,
            log_index,
            transaction_index: parts(row.transaction_place).1,
            transaction_hash: parse_hash("transaction hash", &row.hash)?,
            timestamp: to_unsigned("timestamp", row.timestamp)?,
            event,
        })
    }
}
