//! What operators do with gateway keys: issue, list, revoke, rotate, and look at what they were used for.

use std::{num::NonZeroU32, time::Duration};

use domain::{KeyId, Permissions, Team};
use ipnet::IpNet;
use jiff::Timestamp;
use store::{AllowedWallet, Db, KeyRotation, KeyRow, KeyUsageRow, StoreError};

use crate::{
    key::{FreshKey, KeyText},
    millis,
};

const DAY_MS: u64 = 86_400_000;

/// What a new key is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyTerms {
    /// Whose it is.
    pub team: Team,
    /// What it may be used for.
    pub permissions: Permissions,
    /// Where it may be used from; none for everywhere.
    pub networks: Vec<IpNet>,
    /// Requests it may make in a minute.
    pub requests_per_minute: NonZeroU32,
    /// From when on it is refused.
    pub expires_at: Option<Timestamp>,
}

/// A key that was made just now. Its text is shown once and cannot be found again.
#[derive(Debug, Clone)]
pub struct IssuedKey {
    /// What is kept of it.
    pub row: KeyRow,
    /// The key.
    pub text: KeyText,
}

/// Why something about a key was not done.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    /// There is none with this id.
    #[error("there is no key `{0}`")]
    NotFound(KeyId),
    /// It was taken back before.
    #[error("the key `{0}` was revoked before")]
    Revoked(KeyId),
    /// It has run out.
    #[error("the key `{0}` has expired")]
    Expired(KeyId),
    /// It has been replaced.
    #[error("the key `{old}` has been replaced by `{new}`")]
    Replaced {
        /// The key.
        old: KeyId,
        /// What took its place.
        new: KeyId,
    },
    /// It would be refused from the start.
    #[error("the expiry is in the past")]
    ExpiryInThePast,
    /// The wallet is on the faucet's list.
    #[error("the wallet is on the faucet's allowlist already")]
    WalletListed,
    /// The database failed.
    #[error("the keys cannot be read or written")]
    Store(#[from] StoreError),
}

/// The keys in the database.
#[derive(Debug, Clone)]
pub struct Keys {
    db: Db,
}

impl Keys {
    /// The keys of a database.
    pub fn new(db: Db) -> Self {
        Self { db }
    }

    /// Makes a key.
    pub async fn issue(&self, terms: &KeyTerms, now: Timestamp) -> Result<IssuedKey, KeyError> {
        let issued = make(terms, now)?;
        self.db.insert_key(&issued.row).await?;
        Ok(issued)
    }

    /// Makes a key and puts the team's wallet on the faucet's list: both or neither.
    pub async fn add_partner(
        &self,
        terms: &KeyTerms,
        wallet: &AllowedWallet,
        now: Timestamp,
    ) -> Result<IssuedKey, KeyError> {
        let issued = make(terms, now)?;
        if self.db.insert_partner(&issued.row, wallet).await? {
            Ok(issued)
        } else {
            Err(KeyError::WalletListed)
        }
    }

    /// All keys, oldest first, those that are no longer good included.
    pub async fn list(&self) -> Result<Vec<KeyRow>, KeyError> {
        Ok(self.db.list_keys().await?)
    }

    /// Takes a key back, for good.
    pub async fn revoke(&self, id: &KeyId, now: Timestamp) -> Result<(), KeyError> {
        if self.db.revoke_key(id, millis(now)).await? {
            return Ok(());
        }
        match self.db.find_key(id).await? {
            Some(_) => Err(KeyError::Revoked(*id)),
            None => Err(KeyError::NotFound(*id)),
        }
    }

    /// Makes a key on the terms of another, which stays good for the overlap.
    pub async fn rotate(&self, id: &KeyId, overlap: Duration, now: Timestamp) -> Result<IssuedKey, KeyError> {
        let old = self.get_rotatable(id, now).await?;
        let FreshKey { id: new_id, secret_hash, text } = FreshKey::generate(&mut rand::rng());
        let row = KeyRow { id: new_id, secret_hash, created_at: millis(now), ..old };
        let overlap = u64::try_from(overlap.as_millis()).unwrap_or(u64::MAX);
        // The end of all times, if the overlap is that long.
        let old_expires_at = millis(now).saturating_add(overlap).min(i64::MAX.cast_unsigned());
        if self.db.rotate_key(KeyRotation { old: id, old_expires_at, new: &row }).await? {
            return Ok(IssuedKey { row, text });
        }
        // Somebody was faster; what they did is the reason.
        self.get_rotatable(id, now).await?;
        Err(KeyError::NotFound(*id))
    }

    async fn get_rotatable(&self, id: &KeyId, now: Timestamp) -> Result<KeyRow, KeyError> {
        let key = self.db.find_key(id).await?.ok_or(KeyError::NotFound(*id))?;
        if key.revoked_at.is_some() {
            return Err(KeyError::Revoked(*id));
        }
        if let Some(new) = key.replaced_by {
            return Err(KeyError::Replaced { old: *id, new });
        }
        if key.expires_at.is_some_and(|end| end <= millis(now)) {
            return Err(KeyError::Expired(*id));
        }
        Ok(key)
    }

    /// What one key or all were used for on the last `days` days, today included.
    pub async fn usage(
        &self,
        id: Option<&KeyId>,
        days: u32,
        now: Timestamp,
    ) -> Result<Vec<KeyUsageRow>, KeyError> {
        if let Some(id) = id {
            self.db.find_key(id).await?.ok_or(KeyError::NotFound(*id))?;
        }
        let since = (millis(now) / DAY_MS).saturating_sub(u64::from(days).saturating_sub(1));
        Ok(self.db.list_key_usage(id, since).await?)
    }
}

fn make(terms: &KeyTerms, now: Timestamp) -> Result<IssuedKey, KeyError> {
    if terms.expires_at.is_some_and(|end| end <= now) {
        return Err(KeyError::ExpiryInThePast);
    }
    let FreshKey { id, secret_hash, text } = FreshKey::generate(&mut rand::rng());
    let KeyTerms { team, permissions, networks, requests_per_minute, expires_at } = terms.clone();
    let row = KeyRow {
        id,
        secret_hash,
        team,
        permissions,
        networks,
        requests_per_minute,
        created_at: millis(now),
        expires_at: expires_at.map(millis),
        revoked_at: None,
        replaced_by: None,
    };
    Ok(IssuedKey { row, text })
}
