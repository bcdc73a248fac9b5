//! What a session is known by: `pds_` and 256 random bits. Kept is its SHA-256.

use std::fmt;

use alloy_primitives::B256;
use rand::{CryptoRng, Rng};
use sha2::{Digest, Sha256};

use crate::random::letters;

const PREFIX: &str = "pds_";
const SECRET_LENGTH: usize = 43;

/// A token as its wallet holds it. It does not print itself.
#[derive(Clone, PartialEq, Eq)]
pub struct SessionToken(String);

impl SessionToken {
    pub(super) fn generate(random: &mut (impl CryptoRng + Rng)) -> Self {
        Self(format!("{PREFIX}{}", letters(random, SECRET_LENGTH)))
    }

    /// The text itself.
    pub fn expose(&self) -> &str {
        &self.0
    }

    pub(super) fn hash(&self) -> B256 {
        hash(&self.0)
    }
}

impl fmt::Debug for SessionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionToken(hidden)")
    }
}

/// What is kept of a presented text; none if it cannot be a token. The hash is all that is looked up, so the time that it
/// takes tells nothing of the token.
pub(super) fn hash_of(text: &str) -> Option<B256> {
    let secret = text.strip_prefix(PREFIX)?;
    let is_token = secret.len() == SECRET_LENGTH && secret.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_token.then(|| hash(text))
}

fn hash(text: &str) -> B256 {
    B256::new(Sha256::digest(text.as_bytes()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_hash_and_not_shown() {
        let token = SessionToken::generate(&mut rand::rng());
        assert_eq!(hash_of(token.expose()), Some(token.hash()));
        assert_eq!(token.expose().len(), 47);
        assert_eq!(format!("{token:?}"), "SessionToken(hidden)");
        for text in ["", "pds_", &token.expose()[..46], &token.expose().replacen("pds_", "pdk_", 1)] {
            assert_eq!(hash_of(text), None, "{text}");
        }
    }
}
