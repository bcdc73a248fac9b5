//! The text of a gateway key: `cnk_<id>_<secret>`. The id is public and finds the key, the secret proves it.
//!
//! What is kept is the SHA-256 of the secret. A slow hash protects passwords, which people choose from a small space;
//! a secret of 190 random bits cannot be tried out at any speed, and a slow hash would cost every request.

use std::{fmt, num::NonZeroU32};

use domain::KeyId;
use rand::{CryptoRng, Rng, distr::Alphanumeric};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

const PREFIX: &str = "cnk_";
const ID_LENGTH: usize = 12;
const SECRET_LENGTH: usize = 32;
/// Longer texts are not looked at.
const LONGEST: usize = 96;

/// Requests in a minute of a key without a limit of its own.
pub(crate) const DEFAULT_REQUESTS_PER_MINUTE: NonZeroU32 = NonZeroU32::new(600).unwrap();

/// A key as its owner holds it. It does not print itself.
#[derive(Clone, PartialEq, Eq)]
pub struct KeyText(pub(crate) String);

/// A key that was made just now.
pub(crate) struct FreshKey {
    pub(crate) id: KeyId,
    pub(crate) secret_hash: [u8; 32],
    pub(crate) text: KeyText,
}

impl FreshKey {
    pub(crate) fn generate(random: &mut (impl CryptoRng + Rng)) -> Self {
        let id: KeyId = loop {
            // Letters and digits are an id, the first time.
            if let Ok(id) = letters(random, ID_LENGTH).parse() {
                break id;
            }
        };
        let secret = letters(random, SECRET_LENGTH);
        Self { id, secret_hash: hash(&secret), text: KeyText(format!("{PREFIX}{id}_{secret}")) }
    }
}

impl KeyText {
    /// The text itself, to be shown once.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyText(hidden)")
    }
}

fn letters(random: &mut (impl CryptoRng + Rng), length: usize) -> String {
    random.sample_iter(Alphanumeric).take(length).map(char::from).collect()
}

fn hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.as_bytes()).into()
}

/// A presented text that has the form of a key.
pub(crate) struct Presented<'a> {
    pub(crate) id: KeyId,
    secret: &'a str,
}

impl<'a> Presented<'a> {
    /// Takes a text apart; `None` when it cannot be a key.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let (id, secret) = text.strip_prefix(PREFIX)?.split_once('_')?;
        let is_fit = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        if secret.is_empty() || !secret.bytes().all(is_fit) {
            return None;
        }
        Some(Self { id: id.parse().ok()?, secret })
    }

    /// What it claims to be.
    pub(crate) fn claim(&self) -> Claim {
        Claim { id: self.id, secret_hash: hash(self.secret) }
    }
}

/// What somebody claims who presents a key.
#[derive(Clone, Copy)]
pub(crate) struct Claim {
    pub(crate) id: KeyId,
    pub(crate) secret_hash: [u8; 32],
}

impl Claim {
    /// Whether the secret is the one of a key. Takes as long for a key that does not exist.
    pub(crate) fn is_proven_by(&self, kept: Option<&[u8; 32]>) -> bool {
        is_same(&self.secret_hash, kept.unwrap_or(&[0; 32])) && kept.is_some()
    }
}

/// Whether two texts are the same, in a time that tells nothing but their lengths. Word by word: this is done for every request.
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    let ((words, rest), (other_words, other_rest)) = (one.as_chunks::<8>(), other.as_chunks::<8>());
    let pairs = words.iter().zip(other_words);
    let are_same = pairs.fold(rest.ct_eq(other_rest), |same, (word, other)| {
        same & u64::from_ne_bytes(*word).ct_eq(&u64::from_ne_bytes(*other))
    });
    one.len() == other.len() && bool::from(are_same)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_new_key_is_understood_and_proves_itself_alone() {
        let FreshKey { id, secret_hash, text } = FreshKey::generate(&mut rand::rng());
        let other = FreshKey::generate(&mut rand::rng());
        let claim = Presented::parse(text.expose()).unwrap().claim();
        assert_eq!((claim.id, claim.secret_hash), (id, secret_hash));
        assert!(claim.is_proven_by(Some(&secret_hash)));
        assert!(!claim.is_proven_by(Some(&other.secret_hash)) && !claim.is_proven_by(None));
        assert_eq!(text.expose().len(), 4 + 12 + 1 + 32);
        assert_eq!(format!("{text:?}"), "KeyText(hidden)");
    }

    #[test]
    fn what_is_no_key_is_not_taken_apart() {
        let long = format!("cnk_a_{}", "x".repeat(100));
        for text in
            ["", "cnk_", "cnk_a", "cnk_a_", "cnk__s", "cnk_a_s_s", "CNK_a_s", "pdk_a_s", "cnk_a_s ", &long]
        {
            assert!(Presented::parse(text).is_none(), "{text}");
        }
        assert!(Presented::parse("cnk_internal-dev_some-thing").is_some());
    }

    proptest! {
        #[test]
        fn texts_are_the_same_when_they_are(one in "[ab]{0,2}(cccccccc[ab]){0,2}", other in "[ab]{0,2}(cccccccc[ab]){0,2}") {
            prop_assert_eq!(is_same(one.as_bytes(), other.as_bytes()), one == other);
        }

        #[test]
        fn any_text_is_refused_or_put_together_again(text in "(cnk_)?\\PC{0,60}") {
            if let Some(presented) = Presented::parse(&text) {
                prop_assert_eq!(format!("cnk_{}_{}", presented.id, presented.secret), text);
            }
        }
    }
}
