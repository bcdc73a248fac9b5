//! Who may look at the pages of a network that not everybody may use.
//!
//! Visitors from this machine and from internal addresses come in as they are. Everybody else shows a key that has the
//! permission `explorer`: in a header, or once in a form, after which a cookie carries it.

use std::{fmt, net::IpAddr, sync::Arc};

use access::{InternalAllowlist, Keyring, presented_key};
use domain::Permission;
use hyper::HeaderMap;
use jiff::Timestamp;

use crate::visit::cookie;

/// The cookie that carries a key.
pub(crate) const KEY_COOKIE: &str = "chainnet_key";

/// Who may look at the pages.
pub enum Visitors {
    /// Everybody.
    Everybody,
    /// Internal addresses, and whoever has a key.
    Invited {
        /// The keys.
        keyring: Arc<Keyring>,
        /// Addresses that need none.
        internal: InternalAllowlist,
    },
}

impl Visitors {
    /// Whether somebody may look at the pages.
    pub(crate) fn admits(&self, headers: &HeaderMap, address: IpAddr, now: Timestamp) -> bool {
        match self {
            Self::Everybody => true,
            Self::Invited { internal, .. } if internal.contains(address) => true,
            Self::Invited { .. } => key_of(headers).is_some_and(|key| self.accepts(key, address, now)),
        }
    }

    /// Whether a key opens the door.
    pub(crate) fn accepts(&self, key: &str, address: IpAddr, now: Timestamp) -> bool {
        let Self::Invited { keyring, .. } = self else { return true };
        let Ok(grant) = keyring.authenticate(key, address, now) else { return false };
        let may_look = grant.permissions.contains(Permission::Explorer);
        if may_look {
            grant.usage.count(0);
        } else {
            grant.usage.count_denied();
        }
        may_look
    }
}

impl Visitors {
    /// The key of a visitor who may use it for JSON-RPC, on a network that needs one.
    pub(crate) fn rpc_key(&self, headers: &HeaderMap, address: IpAddr, now: Timestamp) -> Option<RpcKey> {
        let Self::Invited { keyring, .. } = self else { return None };
        let key = key_of(headers)?;
        let grant = keyring.authenticate(key, address, now).ok()?;
        grant.permissions.contains(Permission::Rpc).then(|| RpcKey(key.to_owned()))
    }
}

/// A visitor's key that is good for JSON-RPC. It does not print itself.
#[derive(Clone)]
pub(crate) struct RpcKey(String);

impl RpcKey {
    /// The text, to be shown to its owner alone.
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for RpcKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RpcKey(hidden)")
    }
}

/// The key that a visitor shows: in a header, or in the cookie of an earlier form.
pub(crate) fn key_of(headers: &HeaderMap) -> Option<&str> {
    presented_key(headers, None).ok().or_else(|| cookie(headers, KEY_COOKIE))
}
