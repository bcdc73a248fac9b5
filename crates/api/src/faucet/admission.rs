//! Who may use the faucet on a network that not everybody may use.

use std::net::IpAddr;

use access::{KeyDenied, presented_key};
use alloy_primitives::Address;
use domain::{Failure, Permission};
use hyper::HeaderMap;

use super::{Desk, FaucetAccess};
use crate::{code::Code, problem::Problem};

impl Desk {
    /// Lets a caller in who has a key with the permission, or needs none.
    pub(super) fn admit_caller(&self, headers: &HeaderMap, address: IpAddr) -> Result<(), Problem> {
        let keyring = match &self.state.access {
            FaucetAccess::Open => return Ok(()),
            FaucetAccess::Invited { keyring, .. } => keyring,
        };
        let key = presented_key(headers, None).map_err(refuse_key)?;
        let grant = keyring.authenticate(key, address, self.state.clock.now()).map_err(refuse_key)?;
        if !grant.permissions.contains(Permission::Faucet) {
            grant.usage.count_denied();
            return Err(Problem::new(Code::PermissionMissing, Code::PermissionMissing.meaning()));
        }
        grant.usage.count(0);
        Ok(())
    }

    /// Whether a wallet is on the allowlist; none where there is no such list.
    pub(super) async fn is_allowlisted(&self, wallet: Address) -> Result<Option<bool>, Problem> {
        match &self.state.access {
            FaucetAccess::Open => Ok(None),
            FaucetAccess::Invited { db, .. } => Ok(Some(db.is_wallet_allowed(wallet).await?)),
        }
    }

    /// Lets a wallet in that is on the allowlist, or needs not be.
    pub(super) async fn admit_wallet(&self, wallet: Address) -> Result<(), Problem> {
        if self.is_allowlisted(wallet).await? == Some(false) {
            return Err(Problem::new(Code::WalletNotAllowlisted, Code::WalletNotAllowlisted.meaning()));
        }
        Ok(())
    }
}

/// Only that a key is missing has a word of its own here; what is wrong with one is for people to read.
fn refuse_key(denied: KeyDenied) -> Problem {
    let code = match denied {
        KeyDenied::Missing => Code::ApiKeyMissing,
        KeyDenied::Ambiguous
        | KeyDenied::Malformed
        | KeyDenied::Unknown
        | KeyDenied::Revoked
        | KeyDenied::Expired
        | KeyDenied::IpNotAllowed => Code::ApiKeyInvalid,
    };
    Problem::new(code, denied.detail())
}
