//! Any text as a key: of a developer (`pdk_…`), of the gateway (`cnk_…`).
//!
//! What is taken for a key has exactly the form of one, and its parts are parts of the text.

#![no_main]

#[allow(dead_code, reason = "a part of the file is fuzzed")]
#[path = "../../crates/access/src/key.rs"]
mod gateway_key;
#[allow(dead_code, reason = "a part of the file is fuzzed")]
#[path = "../../crates/accounts/src/random.rs"]
mod random;
#[allow(dead_code, reason = "a part of the file is fuzzed")]
#[path = "../../crates/accounts/src/key/text.rs"]
mod text;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Ok(presented) = std::str::from_utf8(data) else { return };
    if let Some(key) = text::Presented::parse(presented) {
        assert_eq!((key.text, presented.len()), (presented, 66));
        assert!(presented.starts_with(&format!("pdk_{}_", key.id)));
        assert!(presented.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'));
    }
    if let Some(key) = gateway_key::Presented::parse(presented) {
        assert!(presented.starts_with(&format!("cnk_{}_", key.id)) && presented.len() <= 96);
        assert!(presented.is_ascii() && !presented.contains(char::is_whitespace));
        let claim = key.claim();
        assert!(claim.is_proven_by(Some(&claim.secret_hash)));
        assert!(!claim.is_proven_by(None) && !claim.is_proven_by(Some(&[0; 32])));
    }
});
