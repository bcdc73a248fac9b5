//! Developer keys. Only what proves a key is here, never its text.

use alloy_primitives::Address;
use domain::portal::{DeveloperKeyId, KeyState, OrderId, Plan, Scopes};
use sqlx::FromRow;

use super::{
    audit::{AuditRow, insert_audit},
    convert::{parse_id, parse_scopes},
    wallet::touch_wallet,
};
use crate::{
    Db, StoreError,
    convert::{parse_address, to_signed, to_unsigned},
    db::Tx,
};

const COLUMNS: &str = "id, wallet, order_id, plan, name, scopes, mac, pepper_version, last4, created_at, expires_at, \
                       revoked_at, last_used_at";

/// A developer key. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeveloperKeyRow {
    /// Its public part.
    pub id: DeveloperKeyId,
    /// Whose it is.
    pub wallet: Address,
    /// The order that bought it.
    pub order: OrderId,
    /// For how long it was bought.
    pub plan: Plan,
    /// What its owner calls it.
    pub name: String,
    /// What it may be used for.
    pub scopes: Scopes,
    /// HMAC-SHA256 of its text.
    pub mac: [u8; 32],
    /// The pepper that the MAC was made with.
    pub pepper_version: u16,
    /// The last four characters of its text, for its owner to know it by.
    pub last4: String,
    /// When it was claimed.
    pub created_at: u64,
    /// From when on it is refused.
    pub expires_at: u64,
    /// When its owner took it back.
    pub revoked_at: Option<u64>,
    /// When it was last used, to the minute or so.
    pub last_used_at: Option<u64>,
}

impl DeveloperKeyRow {
    /// Whether it is good at a time.
    pub const fn state_at(&self, now: u64) -> KeyState {
        match self.revoked_at {
            Some(_) => KeyState::Revoked,
            None if self.expires_at <= now => KeyState::Expired,
            None => KeyState::Active,
        }
    }
}

/// What became of taking a key back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyRevocation {
    /// It is taken back.
    Revoked(DeveloperKeyRow),
    /// It had been taken back before; it is as it was.
    RevokedBefore(DeveloperKeyRow),
    /// The wallet has no such key.
    NotFound,
}

#[derive(FromRow)]
struct RawKey {
    id: String,
    wallet: Vec<u8>,
    order_id: Vec<u8>,
    plan: String,
    name: String,
    scopes: i16,
    mac: Vec<u8>,
    pepper_version: i16,
    last4: String,
    created_at: i64,
    expires_at: i64,
    revoked_at: Option<i64>,
    last_used_at: Option<i64>,
}

impl TryFrom<RawKey> for DeveloperKeyRow {
    type Error = StoreError;

    fn try_from(raw: RawKey) -> Result<Self, StoreError> {
        let time = |time| to_unsigned("time of a developer key", time);
        let corrupt_version = |error| StoreError::corrupt("version of a pepper", error);
        Ok(Self {
            id: raw.id.parse().map_err(|error| StoreError::corrupt("id of a developer key", error))?,
            wallet: parse_address("wallet of a developer key", &raw.wallet)?,
            order: OrderId::from_bytes(parse_id("order of a developer key", &raw.order_id)?),
            plan: raw.plan.parse().map_err(|error| StoreError::corrupt("plan", error))?,
            name: raw.name,
            scopes: parse_scopes(raw.scopes)?,
            mac: raw
                .mac
                .as_slice()
                .try_into()
                .map_err(|error| StoreError::corrupt("MAC of a developer key", error))?,
            pepper_version: u16::try_from(raw.pepper_version).map_err(corrupt_version)?,
            last4: raw.last4,
            created_at: time(raw.created_at)?,
            expires_at: time(raw.expires_at)?,
            revoked_at: raw.revoked_at.map(time).transpose()?,
            last_used_at: raw.last_used_at.map(time).transpose()?,
        })
    }
}

impl Db {
    /// The key with this id, be it no longer good.
    pub async fn find_developer_key(
        &self,
        id: &DeveloperKeyId,
    ) -> Result<Option<DeveloperKeyRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM portal_key WHERE id = $1");
        let raw: Option<RawKey> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id.as_str()).fetch_optional(pool).await
        })?;
        raw.map(TryInto::try_into).transpose()
    }

    /// The last keys of a wallet, newest first, those that are no longer good included.
    pub async fn list_developer_keys(
        &self,
        wallet: Address,
        limit: u32,
    ) -> Result<Vec<DeveloperKeyRow>, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM portal_key WHERE wallet = $1 ORDER BY created_at DESC, id DESC LIMIT $2"
        );
        let rows: Vec<RawKey> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .bind(wallet.as_slice())
                .bind(i64::from(limit))
                .fetch_all(pool)
                .await
        })?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// Takes a key of a wallet back; the entry is written if that changes anything.
    pub async fn revoke_developer_key(
        &self,
        wallet: Address,
        id: &DeveloperKeyId,
        now: u64,
        entry: &AuditRow,
    ) -> Result<KeyRevocation, StoreError> {
        let sql = format!(
            "UPDATE portal_key SET revoked_at = $1 WHERE id = $2 AND wallet = $3 AND revoked_at IS NULL \
             RETURNING {COLUMNS}"
        );
        let at = to_signed("time", now)?;
        let mut tx = self.begin().await?;
        touch_wallet(&mut tx, wallet, now).await?;
        let revoked: Option<RawKey> = on_connection!(tx, connection => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql))
                .bind(at)
                .bind(id.as_str())
                .bind(wallet.as_slice())
                .fetch_optional(connection)
                .await
        })?;
        if let Some(revoked) = revoked {
            insert_audit(&mut tx, entry).await?;
            tx.commit().await?;
            return Ok(KeyRevocation::Revoked(revoked.try_into()?));
        }
        drop(tx);
        let known = self.find_developer_key(id).await?.filter(|key| key.wallet == wallet);
        Ok(known.map_or(KeyRevocation::NotFound, KeyRevocation::RevokedBefore))
    }

    /// Notes when keys were last used; a later time that is there stays.
    pub async fn use_developer_keys(&self, uses: &[(DeveloperKeyId, u64)]) -> Result<(), StoreError> {
        let sql = "UPDATE portal_key SET last_used_at = $1 \
                   WHERE id = $2 AND (last_used_at IS NULL OR last_used_at < $1)";
        // In the order of ids, so that two processes do not wait for each other.
        let mut uses = uses.to_vec();
        uses.sort_unstable();
        let mut tx = self.begin().await?;
        for (id, at) in uses {
            let at = to_signed("time", at)?;
            on_connection!(tx, connection => {
                sqlx::query(sql).bind(at).bind(id.as_str()).execute(connection).await.map(drop)
            })?;
        }
        tx.commit().await
    }
}

/// Keys of a wallet that are neither expired nor taken back. The wallet's row must have been written before, or the
/// number may be another by the time it is used.
pub(crate) async fn count_active_keys(tx: &mut Tx, wallet: Address, now: u64) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) FROM portal_key WHERE wallet = $1 AND revoked_at IS NULL AND expires_at > $2";
    let now = to_signed("time", now)?;
    let count: i64 = on_connection!(tx, connection => {
        sqlx::query_scalar(sql).bind(wallet.as_slice()).bind(now).fetch_one(connection).await
    })?;
    to_unsigned("number of keys", count)
}

/// Adds a key, within the change that claims its order.
pub(crate) async fn insert_developer_key(tx: &mut Tx, key: &DeveloperKeyRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO portal_key (id, wallet, order_id, plan, name, scopes, mac, pepper_version, last4, created_at, \
               expires_at, revoked_at, last_used_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    let time = |time| to_signed("time", time);
    let too_large = |_| StoreError::TooLarge { what: "version of a pepper" };
    let pepper_version = i16::try_from(key.pepper_version).map_err(too_large)?;
    let (created_at, expires_at) = (time(key.created_at)?, time(key.expires_at)?);
    let revoked_at = key.revoked_at.map(time).transpose()?;
    let last_used_at = key.last_used_at.map(time).transpose()?;
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(key.id.as_str())
            .bind(key.wallet.as_slice())
            .bind(key.order.as_bytes().as_slice())
            .bind(key.plan.name())
            .bind(&key.name)
            .bind(i16::from(key.scopes.bits()))
            .bind(key.mac.as_slice())
            .bind(pepper_version)
            .bind(&key.last4)
            .bind(created_at)
            .bind(expires_at)
            .bind(revoked_at)
            .bind(last_used_at)
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

#[cfg(any(test, feature = "testing"))]
mod testing;
#[cfg(test)]
mod tests;
