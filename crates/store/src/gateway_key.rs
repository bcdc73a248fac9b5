//! Gateway keys.
//!
//! Every change begins by moving the revision, the row that all rivals write; a change that turns out to be none is
//! rolled back and leaves it.

use std::num::NonZeroU32;

use domain::{KeyId, Permissions, Team};
use ipnet::IpNet;
use sqlx::FromRow;

use crate::{
    AllowedWallet, Db, StoreError,
    convert::{parse_team, to_signed, to_unsigned},
    db::Tx,
    faucet_allowlist::insert_allowed_wallet,
};

/// The constraint that a key with the id of another one violates.
const ONE_ID: &str = "gateway_key_pkey";

const COLUMNS: &str = "id, secret_hash, team, permissions, networks, requests_per_minute, created_at, expires_at, \
                       revoked_at, replaced_by";

/// A key. Times are Unix milliseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRow {
    /// Its public part.
    pub id: KeyId,
    /// SHA-256 of its secret part.
    pub secret_hash: [u8; 32],
    /// Whose it is.
    pub team: Team,
    /// What it may be used for.
    pub permissions: Permissions,
    /// Where it may be used from; none for everywhere.
    pub networks: Vec<IpNet>,
    /// Requests it may make in a minute.
    pub requests_per_minute: NonZeroU32,
    /// When it was made.
    pub created_at: u64,
    /// From when on it is refused.
    pub expires_at: Option<u64>,
    /// When an operator took it back.
    pub revoked_at: Option<u64>,
    /// The key that a rotation put in its place.
    pub replaced_by: Option<KeyId>,
}

/// A key that takes the place of another.
#[derive(Debug, Clone, Copy)]
pub struct KeyRotation<'a> {
    /// The one to replace.
    pub old: &'a KeyId,
    /// Until when the old one is good; an earlier end of its own stays.
    pub old_expires_at: u64,
    /// The new one.
    pub new: &'a KeyRow,
}

#[derive(FromRow)]
struct RawKey {
    id: String,
    secret_hash: Vec<u8>,
    team: String,
    permissions: i16,
    networks: String,
    requests_per_minute: i64,
    created_at: i64,
    expires_at: Option<i64>,
    revoked_at: Option<i64>,
    replaced_by: Option<String>,
}

impl Db {
    /// A number that grows with every change of a key.
    pub async fn key_revision(&self) -> Result<u64, StoreError> {
        let sql = "SELECT revision FROM gateway_key_revision WHERE id = 1";
        let revision: i64 = on_readers!(self, pool => sqlx::query_scalar(sql).fetch_one(pool).await)?;
        to_unsigned("revision of the keys", revision)
    }

    /// Every key, oldest first. Operators make them by hand.
    pub async fn list_keys(&self) -> Result<Vec<KeyRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM gateway_key ORDER BY created_at, id");
        let rows: Vec<RawKey> =
            on_readers!(self, pool => sqlx::query_as(sqlx::AssertSqlSafe(sql)).fetch_all(pool).await)?;
        rows.into_iter().map(TryInto::try_into).collect()
    }

    /// The key with this id.
    pub async fn find_key(&self, id: &KeyId) -> Result<Option<KeyRow>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM gateway_key WHERE id = $1");
        let row: Option<RawKey> = on_readers!(self, pool => {
            sqlx::query_as(sqlx::AssertSqlSafe(sql)).bind(id.as_str()).fetch_optional(pool).await
        })?;
        row.map(TryInto::try_into).transpose()
    }

    /// Adds a key. False, and nothing changes, when there is one with its id, be it revoked.
    pub async fn insert_key(&self, key: &KeyRow) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        move_revision(&mut tx).await?;
        match insert(&mut tx, key).await {
            Ok(()) => {}
            Err(StoreError::Conflict { constraint, .. }) if constraint == ONE_ID => return Ok(false),
            Err(error) => return Err(error),
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Adds a key and puts a wallet on the faucet's list, both or neither. False when the wallet is there.
    pub async fn insert_partner(&self, key: &KeyRow, wallet: &AllowedWallet) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        move_revision(&mut tx).await?;
        insert(&mut tx, key).await?;
        if !insert_allowed_wallet(&mut tx, wallet).await? {
            return Ok(false);
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Takes a key back. False when there is none with this id, or it was taken back before.
    pub async fn revoke_key(&self, id: &KeyId, now: u64) -> Result<bool, StoreError> {
        let sql = "UPDATE gateway_key SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL RETURNING id";
        let now = to_signed("time", now)?;
        let mut tx = self.begin().await?;
        move_revision(&mut tx).await?;
        let revoked: Option<String> = on_connection!(tx, connection => {
            sqlx::query_scalar(sql).bind(now).bind(id.as_str()).fetch_optional(connection).await
        })?;
        if revoked.is_none() {
            return Ok(false);
        }
        tx.commit().await?;
        Ok(true)
    }

    /// Puts a key in the place of another. False, and nothing changes, when the old one is not there, was taken back or
    /// has been replaced.
    pub async fn rotate_key(&self, rotation: KeyRotation<'_>) -> Result<bool, StoreError> {
        let sql = "UPDATE gateway_key SET replaced_by = $1, \
                   expires_at = CASE WHEN expires_at < $2 THEN expires_at ELSE $2 END \
                   WHERE id = $3 AND revoked_at IS NULL AND replaced_by IS NULL RETURNING id";
        let expires_at = to_signed("time", rotation.old_expires_at)?;
        let mut tx = self.begin().await?;
        move_revision(&mut tx).await?;
        let replaced: Option<String> = on_connection!(tx, connection => {
            sqlx::query_scalar(sql)
                .bind(rotation.new.id.as_str())
                .bind(expires_at)
                .bind(rotation.old.as_str())
                .fetch_optional(connection)
                .await
        })?;
        if replaced.is_none() {
            return Ok(false);
        }
        insert(&mut tx, rotation.new).await?;
        tx.commit().await?;
        Ok(true)
    }
}

async fn move_revision(tx: &mut Tx) -> Result<(), StoreError> {
    let sql = "UPDATE gateway_key_revision SET revision = revision + 1 WHERE id = 1";
    on_connection!(tx, connection => sqlx::query(sql).execute(connection).await.map(drop))?;
    Ok(())
}

async fn insert(tx: &mut Tx, key: &KeyRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO gateway_key (id, secret_hash, team, permissions, networks, requests_per_minute, \
               created_at, expires_at, revoked_at, replaced_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let networks = key.networks.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let created_at = to_signed("time", key.created_at)?;
    let expires_at = key.expires_at.map(|time| to_signed("time", time)).transpose()?;
    let revoked_at = key.revoked_at.map(|time| to_signed("time", time)).transpose()?;
    on_connection!(tx, connection => {
        sqlx::query(sql)
            .bind(key.id.as_str())
            .bind(key.secret_hash.as_slice())
            .bind(key.team.as_str())
            .bind(i16::from(key.permissions.bits()))
            .bind(networks)
            .bind(i64::from(key.requests_per_minute.get()))
            .bind(created_at)
            .bind(expires_at)
            .bind(revoked_at)
            .bind(key.replaced_by.as_ref().map(KeyId::as_str))
            .execute(connection)
            .await
            .map(drop)
    })?;
    Ok(())
}

pub(crate) fn parse_key_id(text: &str) -> Result<KeyId, StoreError> {
    text.parse().map_err(|error| StoreError::corrupt("id of a key", error))
}

fn parse_networks(text: &str) -> Result<Vec<IpNet>, StoreError> {
    let networks = text.split(',').filter(|network| !network.is_empty());
    networks
        .map(|network| network.parse().map_err(|error| StoreError::corrupt("network of a key", error)))
        .collect()
}

fn parse_limit(limit: i64) -> Result<NonZeroU32, StoreError> {
    let limit = u32::try_from(limit).map_err(|error| StoreError::corrupt("limit of a key", error))?;
    NonZeroU32::new(limit).ok_or_else(|| StoreError::corrupt("limit of a key", "zero"))
}

fn parse_permissions(bits: i16) -> Result<Permissions, StoreError> {
    let bits = u8::try_from(bits).map_err(|error| StoreError::corrupt("permissions of a key", error))?;
    Permissions::from_bits(bits).ok_or_else(|| StoreError::corrupt("permissions of a key", "unknown bits"))
}

impl TryFrom<RawKey> for KeyRow {
    type Error = StoreError;

    fn try_from(raw: RawKey) -> Result<Self, StoreError> {
        let time = |time| to_unsigned("time of a key", time);
        Ok(Self {
            id: parse_key_id(&raw.id)?,
            secret_hash: raw
                .secret_hash
                .as_slice()
                .try_into()
                .map_err(|error| StoreError::corrupt("hash of a key", error))?,
            team: parse_team(&raw.team)?,
            permissions: parse_permissions(raw.permissions)?,
            networks: parse_networks(&raw.networks)?,
            requests_per_minute: parse_limit(raw.requests_per_minute)?,
            created_at: time(raw.created_at)?,
            expires_at: raw.expires_at.map(time).transpose()?,
            revoked_at: raw.revoked_at.map(time).transpose()?,
            replaced_by: raw.replaced_by.as_deref().map(parse_key_id).transpose()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::Address;

    use super::*;
    use crate::engine_tests;

    fn key(id: &str) -> KeyRow {
        KeyRow {
            id: id.parse().unwrap(),
            secret_hash: [7; 32],
            team: "Partner QA".parse().unwrap(),
            permissions: "rpc,explorer".parse().unwrap(),
            networks: vec!["10.0.0.0/8".parse().unwrap(), "2001:db8::/32".parse().unwrap()],
            requests_per_minute: NonZeroU32::MAX,
            created_at: 1_000,
            expires_at: Some(9_000),
            revoked_at: None,
            replaced_by: None,
        }
    }

    fn wallet(byte: u8) -> AllowedWallet {
        let team = "Partner QA".parse().unwrap();
        AllowedWallet { wallet: Address::repeat_byte(byte), team, note: None, added_at: 1 }
    }

    engine_tests! {
        async fn a_key_comes_back_as_it_went_in(test: TestDb) {
            let plain = KeyRow { networks: Vec::new(), expires_at: None, created_at: 2_000, ..key("b") };
            assert!(test.insert_key(&plain).await.unwrap() && test.insert_key(&key("a")).await.unwrap());
            assert_eq!(test.find_key(&plain.id).await.unwrap(), Some(plain.clone()));
            assert_eq!(test.list_keys().await.unwrap(), [key("a"), plain]);
            assert_eq!(test.find_key(&"c".parse().unwrap()).await.unwrap(), None);
        }

        async fn every_change_and_nothing_else_moves_the_revision(test: TestDb) {
            let (a, b) = (key("a"), key("b"));
            let rotation = KeyRotation { old: &a.id, old_expires_at: 5_000, new: &b };
            assert_eq!(test.key_revision().await.unwrap(), 0);
            assert!(test.insert_key(&a).await.unwrap());
            assert!(!test.insert_key(&a).await.unwrap());
            assert_eq!(test.key_revision().await.unwrap(), 1);
            assert!(test.rotate_key(rotation).await.unwrap());
            assert!(!test.rotate_key(rotation).await.unwrap());
            assert_eq!(test.key_revision().await.unwrap(), 2);
            assert!(test.revoke_key(&b.id, 7).await.unwrap());
            assert!(!test.revoke_key(&b.id, 8).await.unwrap());
            assert!(!test.revoke_key(&"c".parse().unwrap(), 8).await.unwrap());
            assert_eq!(test.key_revision().await.unwrap(), 3);
            let revoked = test.find_key(&b.id).await.unwrap().unwrap();
            assert_eq!(revoked.revoked_at, Some(7));
        }

        async fn a_rotation_ends_the_old_key_but_never_prolongs_it(test: TestDb) {
            for (id, own_end, overlap_end, end) in
                [("a", None, 5_000, 5_000), ("b", Some(4_000), 5_000, 4_000), ("c", Some(9_000), 5_000, 5_000)]
            {
                let old = KeyRow { expires_at: own_end, ..key(id) };
                test.insert_key(&old).await.unwrap();
                let new = key(&format!("{id}-new"));
                let rotation = KeyRotation { old: &old.id, old_expires_at: overlap_end, new: &new };
                assert!(test.rotate_key(rotation).await.unwrap());
                let old = test.find_key(&old.id).await.unwrap().unwrap();
                assert_eq!((old.expires_at, old.replaced_by), (Some(end), Some(new.id)));
                assert_eq!(test.find_key(&new.id).await.unwrap(), Some(new));
            }
        }

        async fn a_revoked_key_is_not_rotated(test: TestDb) {
            let (a, b) = (key("a"), key("b"));
            test.insert_key(&a).await.unwrap();
            test.revoke_key(&a.id, 7).await.unwrap();
            let rotation = KeyRotation { old: &a.id, old_expires_at: 5_000, new: &b };
            assert!(!test.rotate_key(rotation).await.unwrap());
            assert_eq!(test.find_key(&b.id).await.unwrap(), None);
        }

        async fn a_partner_is_a_key_and_a_wallet_or_neither(test: TestDb) {
            assert!(test.insert_partner(&key("a"), &wallet(1)).await.unwrap());
            assert!(!test.insert_partner(&key("b"), &wallet(1)).await.unwrap());
            assert!(test.insert_partner(&key("a"), &wallet(2)).await.is_err());
            assert_eq!(test.list_keys().await.unwrap(), [key("a")]);
            assert_eq!(test.list_allowed_wallets().await.unwrap(), [wallet(1)]);
            assert_eq!(test.key_revision().await.unwrap(), 1);
        }

        async fn of_rivals_that_rotate_the_same_key_one_wins(test: TestDb) {
            let old = key("old");
            test.insert_key(&old).await.unwrap();
            let rotating: Vec<_> = (0..8)
                .map(|index| {
                    let (db, old) = (test.db(), old.id);
                    tokio::spawn(async move {
                        let new = key(&format!("new-{index}"));
                        db.rotate_key(KeyRotation { old: &old, old_expires_at: 5_000, new: &new }).await
                    })
                })
                .collect();
            let mut won = 0;
            for rotated in rotating {
                won += u32::from(rotated.await.unwrap().unwrap());
            }
            assert_eq!((won, test.list_keys().await.unwrap().len()), (1, 2));
            assert_eq!(test.key_revision().await.unwrap(), 2);
        }
    }
}
