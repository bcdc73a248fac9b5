//! The queue of deliveries, endpoint by endpoint.
//!
//! A worker takes an endpoint for itself, for the time of a lease, and then takes deliveries of it: each is counted as an
//! attempt and put off behind the lease before it is sent. If the worker dies, both come back by themselves. Every change
//! begins with a write on the endpoint's row, in the order of wallets where there are several, so that workers never wait
//! for each other in a circle; those who add deliveries do not write it at all.

use alloy_primitives::Address;
use domain::portal::{DeliveryId, EventId, EventType};
use sqlx::FromRow;

use super::{convert::parse_id, event::parse_kind, webhook::SealedSecrets};
use crate::{
    Db, Engine, StoreError,
    bulk::{chunks, list_text},
    convert::{parse_address, to_signed, to_unsigned},
    db::Tx,
};

/// Wallets with new deliveries that are looked at in one go.
const MOST_ROUTED: i64 = 500;

/// The time of a claim, in Unix milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lease {
    /// Now.
    pub now: u64,
    /// Until when what is taken belongs to who takes it.
    pub until: u64,
}

/// How many deliveries of an endpoint are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Portion {
    /// Of one that is well.
    pub healthy: u32,
    /// Of one that failed of late.
    pub failing: u32,
    /// Of one that failed so often in a row that it is only probed.
    pub probing: u32,
    /// How often that is.
    pub probed_after: u64,
}

/// An endpoint that a worker has for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenEndpoint {
    /// Whose.
    pub wallet: Address,
    /// Names this taking.
    pub lease: u64,
    /// Where to.
    pub url: String,
    /// What signs.
    pub secrets: SealedSecrets,
    /// How often in a row it failed.
    pub failures: u64,
    /// Since when.
    pub failing_since: Option<u64>,
    /// The first deliveries to be made, in order.
    pub claimed: Vec<ClaimedDelivery>,
}

/// A delivery that is to be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimedDelivery {
    /// Names it.
    pub id: DeliveryId,
    /// The event.
    pub event_id: EventId,
    /// The event's place.
    pub sequence: u64,
    /// Which attempt this is, from 1.
    pub attempt: u64,
    /// What happened.
    pub kind: EventType,
    /// What to send.
    pub body: Vec<u8>,
}

#[derive(FromRow)]
struct RawEndpoint {
    wallet: Vec<u8>,
    lease: i64,
    url: String,
    secret: Vec<u8>,
    next_secret: Option<Vec<u8>>,
    next_active_at: Option<i64>,
    failures: i64,
    failing_since: Option<i64>,
}

#[derive(FromRow)]
struct RawClaim {
    id: Vec<u8>,
    event_id: Vec<u8>,
    sequence: i64,
    attempts: i64,
    kind: String,
    body: Vec<u8>,
}

impl Portion {
    /// Of one that failed so often in a row.
    pub const fn of(&self, failures: u64) -> u32 {
        match failures {
            0 => self.healthy,
            failures if failures < self.probed_after => self.failing,
            _ => self.probing,
        }
    }
}

impl Db {
    /// Tells endpoints of deliveries that were added; answers whose. Those of disabled endpoints wait.
    pub async fn route_deliveries(&self, now: u64) -> Result<Vec<Address>, StoreError> {
        let sql = "SELECT DISTINCT wallet FROM portal_delivery WHERE is_new ORDER BY wallet LIMIT $1";
        let wallets: Vec<Vec<u8>> = on_readers!(self, pool => {
            sqlx::query_scalar(sql).bind(MOST_ROUTED).fetch_all(pool).await
        })?;
        if wallets.is_empty() {
            return Ok(Vec::new());
        }
        let now = to_signed("time", now)?;
        let mut tx = self.begin().await?;
        for wallets in chunks(&wallets) {
            route(&mut tx, lock(self, "FOR UPDATE"), wallets, now).await?;
        }
        tx.commit().await?;
        wallets.iter().map(|wallet| parse_address("wallet of a delivery", wallet)).collect()
    }

    /// Takes endpoints that are due, those due longest first, and of each what is to be sent. One with nothing to send is
    /// put back and not answered.
    pub async fn take_endpoints(
        &self,
        lease: Lease,
        most: u32,
        portion: Portion,
    ) -> Result<Vec<TakenEndpoint>, StoreError> {
        let lock = lock(self, "FOR UPDATE SKIP LOCKED");
        let sql = format!(
            "WITH due AS MATERIALIZED (SELECT wallet FROM portal_webhook WHERE due_at IS NOT NULL AND due_at <= $1 \
             AND leased_until <= $1 ORDER BY due_at LIMIT $2 {lock}) \
             UPDATE portal_webhook SET lease = lease + 1, leased_until = $3 WHERE wallet IN (SELECT wallet FROM due) \
             RETURNING wallet, lease, url, secret, next_secret, next_active_at, failures, failing_since"
        );
        let (now, until) = (to_signed("time", lease.now)?, to_signed("time", lease.until)?);
        let mut tx = self.begin().await?;
        let rows: Vec<RawEndpoint> = on_connection!(tx, connection => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .bind(now)
                .bind(i64::from(most))
                .bind(until)
                .fetch_all(connection)
                .await
        })?;
        let (mut taken, mut idle) = (Vec::with_capacity(rows.len()), Vec::new());
        for row in rows {
            let mut endpoint = TakenEndpoint::try_from(row)?;
            let portion = portion.of(endpoint.failures);
            endpoint.claimed = claim(&mut tx, endpoint.wallet, lease, portion).await?;
            if endpoint.claimed.is_empty() {
                idle.push(endpoint.wallet);
            } else {
                taken.push(endpoint);
            }
        }
        release(&mut tx, &idle).await?;
        tx.commit().await?;
        Ok(taken)
    }

    /// When the next endpoint that nobody has is due.
    pub async fn next_endpoint_due(&self, now: u64) -> Result<Option<u64>, StoreError> {
        let sql = "SELECT due_at FROM portal_webhook WHERE due_at IS NOT NULL AND leased_until <= $1 \
                   ORDER BY due_at LIMIT 1";
        let now = to_signed("time", now)?;
        let due: Option<i64> = on_readers!(self, pool => {
            sqlx::query_scalar(sql).bind(now).fetch_optional(pool).await
        })?;
        due.map(|due| to_unsigned("time of a webhook", due)).transpose()
    }

    /// How many deliveries wait or are under way, and since when the one waits that is due longest.
    pub async fn delivery_backlog(&self) -> Result<(u64, Option<u64>), StoreError> {
        let sql = "SELECT COUNT(*), MIN(due_at) FROM portal_delivery WHERE is_open";
        let (count, oldest): (i64, Option<i64>) = on_readers!(self, pool => {
            sqlx::query_as(sql).fetch_one(pool).await
        })?;
        let oldest = oldest.map(|due| to_unsigned("time of a delivery", due)).transpose()?;
        Ok((to_unsigned("number of deliveries", count)?, oldest))
    }
}

/// A clause that PostgreSQL needs to lock rows, in the order in which they are named, or around others. SQLite has one
/// writer.
fn lock(db: &Db, clause: &'static str) -> &'static str {
    match db.engine() {
        Engine::Sqlite => "",
        Engine::Postgres => clause,
    }
}

async fn route(tx: &mut Tx, lock: &str, wallets: &[Vec<u8>], now: i64) -> Result<(), StoreError> {
    let wake = format!(
        "WITH told AS MATERIALIZED (SELECT wallet FROM portal_webhook WHERE wallet IN ({{list}}) ORDER BY wallet {lock}) \
         UPDATE portal_webhook SET due_at = CASE WHEN state <> 'active' THEN NULL WHEN due_at <= $1 THEN due_at \
         WHEN paused_until > $1 THEN paused_until ELSE $1 END WHERE wallet IN (SELECT wallet FROM told)"
    );
    let seen = "UPDATE portal_delivery SET is_new = FALSE WHERE wallet IN ({list}) AND is_new";
    let (wake, seen) = (list_text(&wake, 2, wallets.len()), list_text(seen, 1, wallets.len()));
    on_connection!(tx, connection => {
        let query = wallets.iter().fold(sqlx::query(wake).bind(now), |query, wallet| query.bind(wallet.clone()));
        query.execute(&mut *connection).await?;
        let query = wallets.iter().fold(sqlx::query(seen), |query, wallet| query.bind(wallet.clone()));
        query.execute(connection).await?;
    });
    Ok(())
}

/// Takes deliveries of an endpoint that are due, in order. The endpoint's row is held.
pub(super) async fn claim(
    tx: &mut Tx,
    wallet: Address,
    lease: Lease,
    most: u32,
) -> Result<Vec<ClaimedDelivery>, StoreError> {
    let sql = "UPDATE portal_delivery SET attempts = attempts + 1, due_at = $1, is_new = FALSE WHERE id IN \
               (SELECT id FROM portal_delivery WHERE wallet = $2 AND is_open AND due_at <= $3 \
               ORDER BY due_at, sequence LIMIT $4) RETURNING id, event_id, sequence, attempts, \
               (SELECT type FROM portal_event WHERE portal_event.id = event_id) AS kind, \
               (SELECT body FROM portal_event WHERE portal_event.id = event_id) AS body";
    let (now, until) = (to_signed("time", lease.now)?, to_signed("time", lease.until)?);
    let rows: Vec<RawClaim> = on_connection!(tx, connection => {
        sqlx::query_as(sql)
            .bind(until)
            .bind(wallet.as_slice())
            .bind(now)
            .bind(i64::from(most))
            .fetch_all(connection)
            .await
    })?;
    let claimed: Result<Vec<ClaimedDelivery>, StoreError> = rows.into_iter().map(TryInto::try_into).collect();
    let mut claimed = claimed?;
    claimed.sort_unstable_by_key(|delivery| (delivery.sequence, delivery.id));
    Ok(claimed)
}

/// Gives endpoints back; each is due when the first of its deliveries is. Their rows are held.
pub(super) async fn release(tx: &mut Tx, wallets: &[Address]) -> Result<(), StoreError> {
    let sql = "UPDATE portal_webhook SET leased_until = 0, due_at = (SELECT CASE WHEN portal_webhook.state <> 'active' THEN NULL \
               WHEN MIN(portal_delivery.due_at) < paused_until THEN paused_until ELSE MIN(portal_delivery.due_at) END \
               FROM portal_delivery WHERE portal_delivery.wallet = portal_webhook.wallet AND is_open) \
               WHERE wallet IN ({list})";
    for wallets in chunks(wallets) {
        let text = list_text(sql, 1, wallets.len());
        on_connection!(tx, connection => {
            let query = wallets.iter().fold(sqlx::query(text), |query, wallet| query.bind(wallet.to_vec()));
            query.execute(connection).await.map(drop)
        })?;
    }
    Ok(())
}

impl TryFrom<RawEndpoint> for TakenEndpoint {
    type Error = StoreError;

    fn try_from(raw: RawEndpoint) -> Result<Self, StoreError> {
        let since = raw.failing_since.map(|at| to_unsigned("time of a webhook", at)).transpose()?;
        Ok(Self {
            wallet: parse_address("wallet of a webhook", &raw.wallet)?,
            lease: to_unsigned("lease of a webhook", raw.lease)?,
            url: raw.url,
            secrets: SealedSecrets::new(raw.secret, raw.next_secret, raw.next_active_at)?,
            failures: to_unsigned("failures of a webhook", raw.failures)?,
            failing_since: since,
            claimed: Vec::new(),
        })
    }
}

impl TryFrom<RawClaim> for ClaimedDelivery {
    type Error = StoreError;

    fn try_from(raw: RawClaim) -> Result<Self, StoreError> {
        Ok(Self {
            id: DeliveryId::from_bytes(parse_id("id of a delivery", &raw.id)?),
            event_id: EventId::from_bytes(parse_id("id of an event", &raw.event_id)?),
            sequence: to_unsigned("sequence of an event", raw.sequence)?,
            attempt: to_unsigned("attempts of a delivery", raw.attempts)?,
            kind: parse_kind(&raw.kind)?,
            body: raw.body,
        })
    }
}
