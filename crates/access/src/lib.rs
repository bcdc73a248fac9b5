//! Who may ask, and how often: client addresses, gateway keys, limits.
//!
//! A request is first somebody's: [`client_address`] finds whose, behind proxies too. Where a key is needed,
//! [`presented_key`] takes it from the request and [`Keyring`] answers with a [`Grant`] or a [`KeyDenied`]; what passes is
//! counted by a [`Limiter`]. All of that works on memory alone. What other processes must know or
//! have to say, keys in the database and limits in Redis, is fetched behind the caller's back.
//!
//! The crate knows no methods, no paths and no answers: what a key is asked for and how a refusal looks is for its users.

mod allowlist;
mod client;
mod credential;
mod key;
mod keyring;
mod keys;
mod last_key;
mod limit;
mod placeholder;
mod redis;

pub use self::redis::{RedisSilent, ping_redis};
pub use allowlist::InternalAllowlist;
pub use client::{Client, client_address, is_trusted_proxy};
pub use credential::{presented_bearer, presented_developer_key, presented_key};
pub use key::KeyText;
pub use keyring::{Grant, KeyDenied, Keyring, KeyringHealth, UsageCounter};
pub use keys::{IssuedKey, KeyError, KeyTerms, Keys};
pub use last_key::LastKey;
pub use limit::{
    Allowance, Counted, Counting, Leaser, Limiter, Meter, Quota, SharedLimitsError, Sharing, Subject,
    UniformLimiter,
};
pub use placeholder::{PLACEHOLDERS, Placeholder, PlaceholderError, settle_placeholders};

use std::sync::Arc;

use jiff::Timestamp;

/// Tells the time, so that tests can move it.
pub type Clock = Arc<dyn Fn() -> Timestamp + Send + Sync>;

/// A time as the store keeps it: Unix milliseconds.
fn millis(time: Timestamp) -> u64 {
    u64::try_from(time.as_millisecond()).unwrap_or(0)
}
