//! Requests that must take effect once: the caller names them, and an answer is kept for three days.

use std::str::FromStr;

use alloy_primitives::B256;
use sha2::{Digest, Sha256};
use store::portal::OnceRequest;

/// How long an answer is kept, in milliseconds.
const KEPT: u64 = 72 * 3_600_000;
const LONGEST: usize = 255;

/// What a caller names a request by: 1 to 255 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

/// The text cannot name a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an idempotency key is 1 to 255 visible ASCII characters")]
pub struct InvalidIdempotencyKey;

impl FromStr for IdempotencyKey {
    type Err = InvalidIdempotencyKey;

    fn from_str(text: &str) -> Result<Self, InvalidIdempotencyKey> {
        let is_good = (1..=LONGEST).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        if is_good { Ok(Self(text.to_owned())) } else { Err(InvalidIdempotencyKey) }
    }
}

impl IdempotencyKey {
    /// The request that has this name, for what `route` does, with this body, at `now` in Unix milliseconds.
    pub fn request(self, route: &'static str, body: &[u8], now: u64) -> OnceRequest {
        OnceRequest {
            route,
            key: self.0,
            fingerprint: B256::from_slice(&Sha256::digest(body)),
            at: now,
            expires_at: now.saturating_add(KEPT),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_visible_ascii() {
        for good in ["x", "5b0f-1", &"~".repeat(255)] {
            assert!(good.parse::<IdempotencyKey>().is_ok(), "{good}");
        }
        for bad in ["", " ", "a b", "a\tb", "é", &"x".repeat(256)] {
            assert_eq!(bad.parse::<IdempotencyKey>(), Err(InvalidIdempotencyKey), "{bad}");
        }
    }

    #[test]
    fn other_bodies_are_other_requests() {
        let key: IdempotencyKey = "x".parse().unwrap();
        let request = |body: &[u8]| key.clone().request("invoices", body, 5);
        assert_eq!(request(b"{}"), request(b"{}"));
        assert_ne!(request(b"{}").fingerprint, request(b"{ }").fingerprint);
        assert_eq!(request(b"").expires_at, 5 + 259_200_000);
    }
}
