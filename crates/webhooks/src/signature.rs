//! Signatures of a delivery, in both ways that receivers check them.
//!
//! The key bytes differ: `X-Platform-Signature` is keyed with the whole text of the secret, `whsec_` included, and Standard
//! Webhooks with the bytes that the text stands for.

use alloy_primitives::hex;
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::portal::EventId;
use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::secret::WebhookSecret;

/// The value of `X-Platform-Signature`: `sha256=` and the HMAC of the body, in hexadecimal.
pub fn platform_signature(secret: &WebhookSecret, body: &[u8]) -> String {
    format!("sha256={}", hex::encode(hmac(secret.as_str().as_bytes(), &[body])))
}

/// A value of `webhook-signature`: `v1,` and the HMAC of id, time and body, in base64.
pub fn standard_signature(secret: &WebhookSecret, id: EventId, unix_seconds: i64, body: &[u8]) -> String {
    standard(secret, &id.to_string(), unix_seconds, body)
}

fn standard(secret: &WebhookSecret, id: &str, unix_seconds: i64, body: &[u8]) -> String {
    let head = format!("{id}.{unix_seconds}.");
    format!("v1,{}", STANDARD.encode(hmac(&secret.decoded(), &[head.as_bytes(), body])))
}

fn hmac(key: &[u8], parts: &[&[u8]]) -> [u8; 32] {
    // HMAC takes keys of every length.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else { return [0; 32] };
    for part in parts {
        mac.update(part);
    }
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] =
        br#"{"id":"evt_01","type":"webhook.test","createdAt":"2026-01-01T00:00:00Z","data":{}}"#;

    /// The vectors of docs/webhooks.md.
    #[test]
    fn signatures_are_those_of_the_documentation() {
        let secret = WebhookSecret::from("whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD");
        assert_eq!(
            platform_signature(&secret, BODY),
            "sha256=0849661ac843f20f8bb79000cf9c6f1546b98341ec5bef7000e390bd67b9225c"
        );
        assert_eq!(
            standard(&secret, "evt_01", 1_767_225_600, BODY),
            "v1,yp8MH3405y+5RHGI1Ln93n6Tal+6moLxhYfjhSJCl6I="
        );
    }
}
