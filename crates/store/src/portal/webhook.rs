//! Where a wallet's events are sent: the URL, the sealed secrets, and how the endpoint is doing.
//!
//! Whoever changes an endpoint from outside takes it away from who delivers to it (`lease` moves on): what that one still
//! had in its hands waits again, and goes to the new URL.

use alloy_primitives::Address;
use domain::portal::{OrderId, WebhookState};
use sqlx::FromRow;

use super::{
    audit::{AuditRow, insert_audit},
    convert::parse_id,
    order::claim_order,
    wallet::touch_wallet,
};
use crate::{
    Db, StoreError,
    convert::{parse_address, to_signed, to_unsigned},
    db::Tx,
};

/// A wallet's webhook. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebhookRow {
    /// Whose.
    pub wallet: Address,
    /// Where to.
    pub url: String,
    /// Whether it is sent to.
    pub state: WebhookState,
    /// Why it was disabled.
    pub disabled_reason: Option<String>,
    /// When it was disabled.
    pub disabled_at: Option<u64>,
    /// What signs.
    pub secrets: SealedSecrets,
    /// Since when nothing was delivered.
    pub failing_since: Option<u64>,
    /// How often in a row it failed.
    pub failures: u64,
    /// Attempts that succeeded.
    pub delivered_count: u64,
    /// Attempts that failed.
    pub failed_count: u64,
    /// Before this nothing is sent to it.
    pub paused_until: u64,
    /// When the first URL was saved.
    pub created_at: u64,
    /// When the last URL or secret was saved.
    pub updated_at: u64,
}

/// The secrets of a webhook as they are kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedSecrets {
    /// The one that signs.
    pub current: Vec<u8>,
    /// The one that follows, and when it takes over.
    pub next: Option<(Vec<u8>, u64)>,
}

/// A secret that is to follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretChange {
    /// The new one, sealed.
    pub sealed: Vec<u8>,
    /// When it takes over.
    pub active_at: u64,
}

pub(super) const COLUMNS: &str = "wallet, url, state, disabled_reason, disabled_at, secret, next_secret, \
                                  next_active_at, failing_since, failures, delivered_count, failed_count, \
                                  paused_until, created_at, updated_at";

#[derive(FromRow)]
pub(super) struct RawWebhook {
    wallet: Vec<u8>,
    url: String,
    state: String,
    disabled_reason: Option<String>,
    disabled_at: Option<i64>,
    secret: Vec<u8>,
    next_secret: Option<Vec<u8>>,
    next_active_at: Option<i64>,
    failing_since: Option<i64>,
    failures: i64,
    delivered_count: i64,
    failed_count: i64,
    paused_until: i64,
    created_at: i64,
    updated_at: i64,
}

impl Db {
    /// A wallet's webhook.
    pub async fn find_webhook(&self, wallet: Address) -> Result<Option<WebhookRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM portal_webhook WHERE wallet = $1");
        let row: Option<RawWebhook> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(wallet.as_slice()).fetch_optional(pool).await
        })?;
        row.map(TryInto::try_into).transpose()
    }

    /// Saves the first URL and takes the fee for it: the wallet's oldest order of a webhook that is paid. None, and nothing
    /// is written, when no order is.
    pub async fn add_webhook(
        &self,
        wallet: Address,
        url: &str,
        secret: &[u8],
        audit: &AuditRow,
    ) -> Result<Option<WebhookRow>, StoreError> {
        let sql = format!(
            "INSERT INTO portal_webhook (wallet, url, state, secret, failures, delivered_count, failed_count, \
             paused_until, leased_until, lease, created_at, updated_at) \
             VALUES ($1, $2, 'active', $3, 0, 0, 0, 0, 0, 0, $4, $4) RETURNING {COLUMNS}"
        );
        let at = to_signed("time", audit.at)?;
        let mut tx = self.begin().await?;
        touch_wallet(&mut tx, wallet, audit.at).await?;
        if !claim_fee(&mut tx, wallet, audit.at).await? {
            return Ok(None);
        }
        let row: RawWebhook = on_connection!(tx, connection => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .bind(wallet.as_slice())
                .bind(url)
                .bind(secret)
                .bind(at)
                .fetch_one(connection)
                .await
        })?;
        insert_audit(&mut tx, audit).await?;
        tx.commit().await?;
        Ok(Some(row.try_into()?))
    }

    /// Saves another URL, or the same again: the endpoint counts as well once more, and what waits is due. None when the
    /// wallet has no webhook.
    pub async fn save_webhook(
        &self,
        wallet: Address,
        url: &str,
        audit: &AuditRow,
    ) -> Result<Option<WebhookRow>, StoreError> {
        let sql = format!(
            "UPDATE portal_webhook SET url = $1, state = 'active', disabled_reason = NULL, disabled_at = NULL, \
             failing_since = NULL, failures = 0, paused_until = 0, due_at = $2, leased_until = 0, lease = lease + 1, \
             updated_at = $2 WHERE wallet = $3 RETURNING {COLUMNS}"
        );
        let at = to_signed("time", audit.at)?;
        let mut tx = self.begin().await?;
        touch_wallet(&mut tx, wallet, audit.at).await?;
        let row: Option<RawWebhook> = on_connection!(tx, connection => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .bind(url)
                .bind(at)
                .bind(wallet.as_slice())
                .fetch_optional(connection)
                .await
        })?;
        let Some(row) = row else { return Ok(None) };
        // One that is under way has an attempt without a result, and stays where it is.
        let sql = "UPDATE portal_delivery SET due_at = $1 WHERE wallet = $2 AND is_open AND due_at > $1 \
                   AND attempts = (SELECT COUNT(*) FROM portal_attempt WHERE delivery_id = portal_delivery.id)";
        on_connection!(tx, connection => {
            sqlx::query(sql).bind(at).bind(wallet.as_slice()).execute(connection).await.map(drop)
        })?;
        insert_audit(&mut tx, audit).await?;
        tx.commit().await?;
        Ok(Some(row.try_into()?))
    }

    /// A wallet with the sealed secret of its webhook, if there is any: to see whether a key opens it.
    pub async fn find_any_webhook_secret(&self) -> Result<Option<(Address, Vec<u8>)>, StoreError> {
        let sql = "SELECT wallet, secret FROM portal_webhook LIMIT 1";
        let row: Option<(Vec<u8>, Vec<u8>)> =
            on_readers!(self, pool => sqlx::query_as(sql).fetch_optional(pool).await)?;
        row.map(|(wallet, secret)| Ok((parse_address("wallet", &wallet)?, secret))).transpose()
    }

    /// Gives a webhook a secret that takes over at a time; one that waits to take over is forgotten. None when the wallet
    /// has no webhook.
    pub async fn rotate_webhook(
        &self,
        wallet: Address,
        change: &SecretChange,
        audit: &AuditRow,
    ) -> Result<Option<WebhookRow>, StoreError> {
        let sql = format!(
            "UPDATE portal_webhook SET secret = CASE WHEN $1 <= $2 THEN $3 WHEN next_active_at <= $2 THEN next_secret \
             ELSE secret END, next_secret = CASE WHEN $1 <= $2 THEN NULL ELSE $3 END, \
             next_active_at = CASE WHEN $1 <= $2 THEN NULL ELSE $1 END, lease = lease + 1, leased_until = 0, \
             updated_at = $2 WHERE wallet = $4 RETURNING {COLUMNS}"
        );
        let (at, active_at) = (to_signed("time", audit.at)?, to_signed("time", change.active_at)?);
        let mut tx = self.begin().await?;
        touch_wallet(&mut tx, wallet, audit.at).await?;
        let row: Option<RawWebhook> = on_connection!(tx, connection => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .bind(active_at)
                .bind(at)
                .bind(change.sealed.as_slice())
                .bind(wallet.as_slice())
                .fetch_optional(connection)
                .await
        })?;
        let Some(row) = row else { return Ok(None) };
        insert_audit(&mut tx, audit).await?;
        tx.commit().await?;
        Ok(Some(row.try_into()?))
    }
}

/// Claims the oldest paid order of a webhook; false if there is none. The wallet's row is held.
async fn claim_fee(tx: &mut Tx, wallet: Address, now: u64) -> Result<bool, StoreError> {
    let sql = "SELECT id FROM portal_order WHERE wallet = $1 AND kind = 'webhook' AND state = 'paid' \
               ORDER BY id LIMIT 1";
    let id: Option<Vec<u8>> = on_connection!(tx, connection => {
        sqlx::query_scalar(sql).bind(wallet.as_slice()).fetch_optional(connection).await
    })?;
    let Some(id) = id else { return Ok(false) };
    claim_order(tx, wallet, OrderId::from_bytes(parse_id("id of an order", &id)?), now).await
}

impl TryFrom<RawWebhook> for WebhookRow {
    type Error = StoreError;

    fn try_from(raw: RawWebhook) -> Result<Self, StoreError> {
        let time = |time| to_unsigned("time of a webhook", time);
        let count = |count| to_unsigned("count of a webhook", count);
        Ok(Self {
            wallet: parse_address("wallet of a webhook", &raw.wallet)?,
            url: raw.url,
            state: raw.state.parse().map_err(|error| StoreError::corrupt("state of a webhook", error))?,
            disabled_reason: raw.disabled_reason,
            disabled_at: raw.disabled_at.map(time).transpose()?,
            secrets: SealedSecrets::new(raw.secret, raw.next_secret, raw.next_active_at)?,
            failing_since: raw.failing_since.map(time).transpose()?,
            failures: count(raw.failures)?,
            delivered_count: count(raw.delivered_count)?,
            failed_count: count(raw.failed_count)?,
            paused_until: time(raw.paused_until)?,
            created_at: time(raw.created_at)?,
            updated_at: time(raw.updated_at)?,
        })
    }
}

impl SealedSecrets {
    pub(super) fn new(
        current: Vec<u8>,
        next: Option<Vec<u8>>,
        active_at: Option<i64>,
    ) -> Result<Self, StoreError> {
        let active_at = active_at.map(|at| to_unsigned("time of a secret", at)).transpose()?;
        Ok(Self { current, next: next.zip(active_at) })
    }
}
