//! Developer keys: what a presented one allows.
//!
//! Rows are kept for the rest of the second in which they were read. A key that was taken back is thus refused within a
//! second by every process, and at once by the one that was told ([`DeveloperKeys::forget`]); a key that is used five
//! thousand times a second costs one read of the database in it. Its end is compared with the clock every time.

mod denied;
mod pepper;
#[cfg(test)]
mod tests;
mod text;
mod usage;

use std::sync::Arc;

use access::Clock;
use alloy_primitives::Address;
use domain::portal::{DeveloperKeyId, Plan, Scope, Scopes};
use jiff::Timestamp;
use quick_cache::sync::Cache;
use store::{Db, StoreError, portal::DeveloperKeyRow};

use self::{text::Presented, usage::Uses};
use crate::{millis, timestamp};

pub use denied::{DeveloperKeyDenied, ScopeMissing};
pub use pepper::{MintedKey, Pepper, PepperError, Peppers};
pub use text::DeveloperKeyText;

/// Rows that are kept; those of past seconds give way first.
const MOST_KEPT: usize = 8_192;

/// How long a key that was good counts as such for who decides whether to look at all.
const LATELY_MS: u64 = 600_000;

/// What a good key allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// The key's public part.
    pub id: DeveloperKeyId,
    /// Whose it is.
    pub wallet: Address,
    /// What it may be used for.
    pub scopes: Scopes,
    /// What its owner calls it.
    pub name: String,
    /// For how long it was bought.
    pub plan: Plan,
    /// From when on it is refused.
    pub expires_at: Timestamp,
}

impl Grant {
    /// Refuses a key without this scope.
    pub fn require(&self, scope: Scope) -> Result<(), ScopeMissing> {
        if self.scopes.contains(scope) { Ok(()) } else { Err(ScopeMissing(scope)) }
    }
}

/// All developer keys.
pub struct DeveloperKeys {
    db: Db,
    clock: Clock,
    peppers: Peppers,
    /// By key and second; ids that nobody has are kept too.
    kept: Cache<(DeveloperKeyId, u64), Option<Arc<KnownKey>>>,
    uses: Uses,
    /// Until when keys count as good lately, in milliseconds since 1970.
    good: Cache<DeveloperKeyId, u64>,
}

/// A row, as far as it matters here.
struct KnownKey {
    mac: [u8; 32],
    pepper_version: u16,
    is_revoked: bool,
    grant: Arc<Grant>,
}

impl DeveloperKeys {
    /// The keys of a database. [`Self::run`] writes down when they are used.
    pub fn new(db: Db, clock: Clock, peppers: Peppers) -> Self {
        Self {
            db,
            clock,
            peppers,
            kept: Cache::new(MOST_KEPT),
            uses: Uses::default(),
            good: Cache::new(MOST_KEPT),
        }
    }

    /// Makes new keys.
    pub fn peppers(&self) -> &Peppers {
        &self.peppers
    }

    /// What a presented text allows.
    ///
    /// A text with a wrong checksum is refused without a look at the database. Whether a key exists cannot be learned from how
    /// long the comparison takes, and why it is refused only with its secret.
    pub async fn check(&self, presented: &str) -> Result<Arc<Grant>, DeveloperKeyDenied> {
        let presented = Presented::parse(presented).ok_or(DeveloperKeyDenied::Malformed)?;
        let now = (self.clock)();
        let known = self.find(presented.id, now).await?;
        let kept = known.as_ref().map(|key| (&key.mac, key.pepper_version));
        let is_proven = self.peppers.proves(presented.text, kept);
        let key = known.filter(|_| is_proven).ok_or(DeveloperKeyDenied::Unknown)?;
        if key.is_revoked {
            return Err(DeveloperKeyDenied::Revoked);
        }
        if key.grant.expires_at <= now {
            return Err(DeveloperKeyDenied::Expired { at: key.grant.expires_at });
        }
        self.uses.note(key.grant.id, millis(now));
        self.note_good(key.grant.id, millis(now));
        Ok(key.grant.clone())
    }

    /// The id in a presented text, if it has the form of a key.
    pub fn id_of(presented: &str) -> Option<DeveloperKeyId> {
        Presented::parse(presented).map(|presented| presented.id)
    }

    /// Whether somebody has proved to have this key in the last minutes. Whoever presents it now has not, yet.
    pub fn was_good_lately(&self, id: DeveloperKeyId) -> bool {
        self.good.get(&id).is_some_and(|until| millis((self.clock)()) < until)
    }

    /// Written once in half the time that it holds, and not with every request.
    fn note_good(&self, id: DeveloperKeyId, now: u64) {
        if self.good.get(&id).is_none_or(|until| until < now.saturating_add(LATELY_MS / 2)) {
            self.good.insert(id, now.saturating_add(LATELY_MS));
        }
    }

    /// Looks at a key anew when it is next presented. To be called by whoever has changed it.
    pub fn forget(&self, id: DeveloperKeyId) {
        let second = second((self.clock)());
        // Somebody may still be at work since before the last tick of the clock.
        for second in [second, second.saturating_sub(1)] {
            self.kept.remove(&(id, second));
        }
    }

    async fn find(&self, id: DeveloperKeyId, now: Timestamp) -> Result<Option<Arc<KnownKey>>, StoreError> {
        let read = async {
            let row = self.db.find_developer_key(&id).await?;
            Ok(row.map(|row| Arc::new(self.known(row))))
        };
        self.kept.get_or_insert_async(&(id, second(now)), read).await
    }

    fn known(&self, row: DeveloperKeyRow) -> KnownKey {
        let DeveloperKeyRow {
            id,
            wallet,
            order: _,
            plan,
            name,
            scopes,
            mac,
            pepper_version,
            last4: _,
            created_at: _,
            expires_at,
            revoked_at,
            last_used_at: _,
        } = row;
        if !self.peppers.knows(pepper_version) {
            tracing::warn!(%id, pepper_version, "a developer key needs a pepper that is not configured");
        }
        let grant = Arc::new(Grant { id, wallet, scopes, name, plan, expires_at: timestamp(expires_at) });
        KnownKey { mac, pepper_version, is_revoked: revoked_at.is_some(), grant }
    }
}

fn second(now: Timestamp) -> u64 {
    millis(now) / 1_000
}
