//! What a stranger brings to sign in: an address, a challenge's id and a signature, all of any bytes.
//!
//! The text to sign (EIP-4361) is ours and is never read back; but nothing of a stranger's may change its lines. A signature
//! is of one address or of nobody, and of its two forms only the low one counts.

#![no_main]

#[allow(dead_code, reason = "a part of the file is fuzzed")]
#[path = "../../crates/accounts/src/session/message.rs"]
mod message;
#[allow(dead_code, reason = "a part of the file is fuzzed")]
#[path = "../../crates/accounts/src/session/recover.rs"]
mod recover;

use alloy_primitives::{B256, keccak256};
use domain::{WebUrl, portal::ChallengeId};
use jiff::Timestamp;
use libfuzzer_sys::fuzz_target;

/// What the message needs to know of its surroundings, as in `accounts`.
struct SessionSettings {
    public_url: WebUrl,
    chain_id: u64,
}

fuzz_target!(|data: &[u8]| {
    let hash = keccak256(b"a text");
    let _ = recover::recover(hash, data);
    if let Some((signature, rest)) = data.split_at_checked(65) {
        let signer = recover::recover(hash, signature);
        // With a high s, or another v, nobody has signed.
        let (s, v) = (B256::from_slice(&signature[32..64]), signature[64]);
        let is_low = s <= B256::from(HALF_ORDER);
        assert!(signer.is_none() || is_low && matches!(v, 0 | 1 | 27 | 28));
        let _ = recover::recover(B256::left_padding_from(&rest[..rest.len().min(32)]), signature);
    }
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(id) = text.parse::<ChallengeId>() {
        assert_eq!(id.to_string(), text, "two spellings of one id");
    }
    let Ok(address) = domain::parse_address(text) else { return };
    let now = Timestamp::UNIX_EPOCH;
    let settings = SessionSettings { public_url: "https://portal.example".parse().expect("a URL"), chain_id: 8845 };
    let id = ChallengeId::new(0, 0);
    let message =
        message::SignInMessage { settings: &settings, address, nonce: "abc", issued_at: now, expires_at: now, id };
    let message = message.to_string();
    assert_eq!(message.lines().count(), 12, "{message}");
    assert_eq!(message.lines().nth(1), Some(address.to_checksum(None).as_str()));
});

/// Half the order of secp256k1, the greatest low `s`.
const HALF_ORDER: [u8; 32] = [
    0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x5d, 0x57, 0x6e,
    0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
];
