//! The keys, in memory: who presents one is answered without a look at the database.
//!
//! The whole set is swapped when the database's revision moves, which is asked for several times a second, so that a key
//! that was taken back is refused within a second by every process. While the database cannot be read the last set stays
//! in force: locking all partners out would be the greater harm. [`Keyring::health`] says so after a few seconds.

mod denied;
mod refresh;
mod usage;

use std::{
    collections::HashMap,
    net::IpAddr,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use ahash::RandomState;
use arc_swap::ArcSwap;
use domain::{KeyId, Permissions, Team};
use ipnet::IpNet;
use jiff::Timestamp;
use store::{Db, KeyRow, StoreError};

use crate::{
    Clock, LastKey,
    key::{Claim, Presented},
    millis,
};

pub use denied::KeyDenied;
pub use usage::UsageCounter;

/// How old the last look at the database may be.
const OLDEST_LOOK: Duration = Duration::from_secs(5);

/// What a good key allows.
#[derive(Debug)]
pub struct Grant {
    /// The key's public part.
    pub id: KeyId,
    /// Whose it is.
    pub team: Team,
    /// What it may be used for.
    pub permissions: Permissions,
    /// Requests it may make in a minute.
    pub requests_per_minute: NonZeroU32,
    /// Counts what it is used for.
    pub usage: Arc<UsageCounter>,
}

/// Whether the keys are those of the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyringHealth {
    /// They are.
    Fresh,
    /// The database has not been read since; a key that was taken back meanwhile is still accepted.
    Stale {
        /// The last look, in Unix milliseconds.
        since: u64,
    },
}

/// All keys, ready to be asked.
pub struct Keyring {
    db: Db,
    clock: Clock,
    keys: ArcSwap<KeySet>,
    /// When the database last answered, in Unix milliseconds.
    looked_at: AtomicU64,
}

/// The keys of one revision.
struct KeySet {
    revision: u64,
    keys: HashMap<KeyId, Key, RandomState>,
}

struct Key {
    secret_hash: [u8; 32],
    networks: Vec<IpNet>,
    /// In Unix milliseconds.
    expires_at: Option<u64>,
    is_revoked: bool,
    grant: Arc<Grant>,
}

impl Keyring {
    /// Reads the keys. [`Self::run`] keeps them up to date.
    pub async fn open(db: Db, clock: Clock) -> Result<Self, StoreError> {
        let looked_at = AtomicU64::new(millis(clock()));
        let set = read(&db, None).await?;
        Ok(Self { db, clock, keys: ArcSwap::from_pointee(set), looked_at })
    }

    /// What a presented text allows whoever asks from `address`.
    ///
    /// Whether a key exists cannot be learned from how long this takes, and why it is refused only with its secret.
    pub fn authenticate(
        &self,
        presented: &str,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<Arc<Grant>, KeyDenied> {
        let presented = Presented::parse(presented).ok_or(KeyDenied::Malformed)?;
        self.admit(presented.claim(), address, now)
    }

    /// The same for somebody who presents one key again and again.
    pub fn authenticate_again(
        &self,
        last: &LastKey,
        presented: &str,
        address: IpAddr,
        now: Timestamp,
    ) -> Result<Arc<Grant>, KeyDenied> {
        let claim = last.claim(presented).ok_or(KeyDenied::Malformed)?;
        self.admit(claim, address, now)
    }

    fn admit(&self, claim: Claim, address: IpAddr, now: Timestamp) -> Result<Arc<Grant>, KeyDenied> {
        let set = self.keys.load();
        let key = set.keys.get(&claim.id);
        let is_proven = claim.is_proven_by(key.map(|key| &key.secret_hash));
        let key = key.filter(|_| is_proven).ok_or(KeyDenied::Unknown)?;
        if key.is_revoked {
            return Err(KeyDenied::Revoked);
        }
        if key.expires_at.is_some_and(|end| end <= millis(now)) {
            return Err(KeyDenied::Expired);
        }
        let address = address.to_canonical();
        if !key.networks.is_empty() && !key.networks.iter().any(|network| network.contains(&address)) {
            return Err(KeyDenied::IpNotAllowed);
        }
        Ok(key.grant.clone())
    }

    /// How many keys there are, revoked and expired ones among them.
    pub fn key_count(&self) -> usize {
        self.keys.load().keys.len()
    }

    /// Whether the keys are those of the database.
    pub fn health(&self) -> KeyringHealth {
        let looked_at = self.looked_at.load(Ordering::Relaxed);
        let oldest = u64::try_from(OLDEST_LOOK.as_millis()).unwrap_or(u64::MAX);
        if millis((self.clock)()).saturating_sub(looked_at) <= oldest {
            KeyringHealth::Fresh
        } else {
            KeyringHealth::Stale { since: looked_at }
        }
    }
}

/// Reads all keys; those that were known before go on counting where they are.
async fn read(db: &Db, known: Option<&KeySet>) -> Result<KeySet, StoreError> {
    // The revision first: keys that change in between are read again, not missed.
    let revision = db.key_revision().await?;
    let rows = db.list_keys().await?;
    let keys = rows.into_iter().map(|row| {
        let known = known.and_then(|known| known.keys.get(&row.id));
        (row.id, Key::new(row, known.map(|key| key.grant.usage.clone()).unwrap_or_default()))
    });
    Ok(KeySet { revision, keys: keys.collect() })
}

impl Key {
    fn new(row: KeyRow, usage: Arc<UsageCounter>) -> Self {
        let KeyRow {
            id,
            secret_hash,
            team,
            permissions,
            networks,
            requests_per_minute,
            created_at: _,
            expires_at,
            revoked_at,
            replaced_by: _,
        } = row;
        let grant = Arc::new(Grant { id, team, permissions, requests_per_minute, usage });
        Self { secret_hash, networks, expires_at, is_revoked: revoked_at.is_some(), grant }
    }
}
