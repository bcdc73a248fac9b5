//! The two keys that everybody knows. They let a newcomer use the devnet at once, and no other network may have them.

use domain::{KeyId, Network, Permission, Permissions};
use jiff::Timestamp;
use store::{Db, KeyRow, StoreError};

use crate::{
    key::{Claim, DEFAULT_REQUESTS_PER_MINUTE, Presented},
    millis,
};

/// A key that everybody knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placeholder {
    /// Its team, and its id.
    pub team: &'static str,
    /// The key itself.
    pub key: &'static str,
    /// What it may be used for.
    pub permissions: Permissions,
}

/// The devnet's keys.
pub const PLACEHOLDERS: [Placeholder; 2] = [
    Placeholder {
        team: "internal-dev",
        key: "cnk_internal-dev_devnet-placeholder-replace-before-production",
        permissions: Permissions::of([Permission::Rpc, Permission::Faucet, Permission::Explorer]),
    },
    Placeholder {
        team: "partner-qa",
        key: "cnk_partner-qa_devnet-placeholder-replace-before-production",
        permissions: Permissions::of([Permission::Rpc, Permission::Explorer]),
    },
];

/// Why a network may not start as it is.
#[derive(Debug, thiserror::Error)]
pub enum PlaceholderError {
    /// It has a key that everybody knows.
    #[error(
        "{network} has the devnet's placeholder key `{id}`, which everybody knows: take it back with `chainnet keys \
         revoke {id}`"
    )]
    Present {
        /// Which network.
        network: Network,
        /// Which key.
        id: KeyId,
    },
    /// The keys cannot be read or written.
    #[error("the keys cannot be read")]
    Store(#[from] StoreError),
}

/// To be called at the start: makes sure that the devnet has the placeholders, and that no other network does.
///
/// Answers those that are good. One that an operator took back stays so.
pub async fn settle_placeholders(
    db: &Db,
    network: Network,
    now: Timestamp,
) -> Result<Vec<&'static Placeholder>, PlaceholderError> {
    match network {
        Network::Devnet => ensure(db, millis(now)).await,
        Network::Testnet | Network::Mainnet => refuse(db, network).await.map(|()| Vec::new()),
    }
}

async fn ensure(db: &Db, now: u64) -> Result<Vec<&'static Placeholder>, PlaceholderError> {
    let mut good = Vec::new();
    for placeholder in &PLACEHOLDERS {
        let Some(row) = row(placeholder, now) else { continue };
        let kept = db.find_key(&row.id).await?;
        if kept.is_none() {
            // Another process may be faster; then the key is there all the same.
            db.insert_key(&row).await?;
        }
        let is_good =
            kept.is_none_or(|kept| kept.revoked_at.is_none() && kept.expires_at.is_none_or(|end| now < end));
        if is_good {
            good.push(placeholder);
        }
    }
    Ok(good)
}

async fn refuse(db: &Db, network: Network) -> Result<(), PlaceholderError> {
    let known: Vec<KeyRow> = PLACEHOLDERS.iter().filter_map(|placeholder| row(placeholder, 0)).collect();
    let kept = db.list_keys().await?;
    let is_known = |key: &KeyRow| known.iter().any(|k| k.id == key.id || k.secret_hash == key.secret_hash);
    match kept.into_iter().find(|key| key.revoked_at.is_none() && is_known(key)) {
        Some(key) => Err(PlaceholderError::Present { network, id: key.id }),
        None => Ok(()),
    }
}

/// The key as it is kept. Always there: the texts above are keys, which a test holds.
fn row(placeholder: &Placeholder, now: u64) -> Option<KeyRow> {
    let Claim { id, secret_hash } = Presented::parse(placeholder.key)?.claim();
    Some(KeyRow {
        id,
        secret_hash,
        team: placeholder.team.parse().ok()?,
        permissions: placeholder.permissions,
        networks: Vec::new(),
        requests_per_minute: DEFAULT_REQUESTS_PER_MINUTE,
        created_at: now,
        expires_at: None,
        revoked_at: None,
        replaced_by: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_placeholders_are_keys_with_their_team_as_id() {
        for placeholder in &PLACEHOLDERS {
            let row = row(placeholder, 7).unwrap();
            assert_eq!((row.id.as_str(), row.team.as_str()), (placeholder.team, placeholder.team));
        }
    }
}
