//! The text of a developer key: `pdk_<id>_<secret><checksum>`. The id is public and finds the key, the secret proves it,
//! the checksum tells typing errors and other people's secrets from keys without a look at the database.
//!
//! A scanner finds lost keys by `\bpdk_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}\b` and knows a real one by its checksum.

use std::fmt;

use domain::portal::DeveloperKeyId;
use rand::{CryptoRng, Rng};

use crate::random::letters;

const PREFIX: &str = "pdk_";
/// 256 bits.
const SECRET_LENGTH: usize = 43;
const CHECKSUM_LENGTH: usize = 6;
const LENGTH: usize = PREFIX.len() + DeveloperKeyId::LENGTH + 1 + SECRET_LENGTH + CHECKSUM_LENGTH;
/// What an owner knows a key by.
const SHOWN_LENGTH: usize = 4;

/// A key as its owner holds it. It does not print itself.
#[derive(Clone, PartialEq, Eq)]
pub struct DeveloperKeyText(String);

impl DeveloperKeyText {
    /// A new key.
    pub(super) fn generate(random: &mut (impl CryptoRng + Rng)) -> (DeveloperKeyId, Self) {
        let id: DeveloperKeyId = loop {
            // Letters and digits are an id, the first time.
            if let Ok(id) = letters(random, DeveloperKeyId::LENGTH).parse() {
                break id;
            }
        };
        let stem = format!("{PREFIX}{id}_{}", letters(random, SECRET_LENGTH));
        let checksum = checksum(&stem);
        (id, Self(stem + &checksum))
    }

    /// The text itself, to be shown once.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Its last characters.
    pub(super) fn last4(&self) -> String {
        self.0.get(LENGTH - SHOWN_LENGTH..).unwrap_or_default().to_owned()
    }
}

impl fmt::Debug for DeveloperKeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("DeveloperKeyText(hidden)")
    }
}

/// A presented text that has the form of a key and the right checksum.
pub(super) struct Presented<'a> {
    pub(super) id: DeveloperKeyId,
    pub(super) text: &'a str,
}

impl<'a> Presented<'a> {
    /// Takes a text apart; `None` when it cannot be a key.
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        if text.len() != LENGTH {
            return None;
        }
        let (stem, sum) = text.split_at_checked(LENGTH - CHECKSUM_LENGTH)?;
        let (id, secret) = stem.strip_prefix(PREFIX)?.split_once('_')?;
        if !secret.bytes().all(|byte| byte.is_ascii_alphanumeric()) || sum != checksum(stem) {
            return None;
        }
        Some(Self { id: id.parse().ok()?, text })
    }
}

/// CRC-32 (IEEE) of everything before it, as digits of base 62, highest first.
fn checksum(stem: &str) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut rest = crc32fast::hash(stem.as_bytes()) as usize;
    let mut digits = [b'0'; CHECKSUM_LENGTH];
    for digit in digits.iter_mut().rev() {
        *digit = DIGITS.get(rest % DIGITS.len()).copied().unwrap_or(b'0');
        rest /= DIGITS.len();
    }
    digits.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_checksum_is_the_one_that_others_compute() {
        let stem = "acme_live_7Kq2mXc9TzPa_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg";
        assert_eq!(checksum(stem), "2ZZr0T");
        assert_eq!(checksum(""), "000000");
    }

    #[test]
    fn a_new_key_is_understood_and_shows_only_its_end() {
        let (id, text) = DeveloperKeyText::generate(&mut rand::rng());
        let presented = Presented::parse(text.expose()).unwrap();
        assert_eq!((presented.id, presented.text), (id, text.expose()));
        assert_eq!(text.expose().len(), 66);
        assert!(text.expose().ends_with(&text.last4()) && text.last4().len() == 4);
        assert_eq!(format!("{text:?}"), "DeveloperKeyText(hidden)");
    }

    #[test]
    fn other_peoples_secrets_are_no_keys() {
        let (_, text) = DeveloperKeyText::generate(&mut rand::rng());
        let text = text.expose();
        let upper = text.to_uppercase();
        let other_prefix = text.replacen("pdk_", "cnk_", 1);
        let spaced = format!("{text} ");
        for wrong in ["", "pdk_", &text[1..], &text[..65], &upper, &other_prefix, &spaced, &"ä".repeat(33)] {
            assert!(Presented::parse(wrong).is_none(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn no_text_is_too_odd_to_be_refused(text in "(pdk_)?\\PC{0,70}") {
            prop_assert!(Presented::parse(&text).is_none());
        }

        #[test]
        fn whatever_has_the_form_and_the_checksum_is_taken_apart(id in "[0-9A-Za-z]{12}", secret in "[0-9A-Za-z]{43}") {
            let stem = format!("pdk_{id}_{secret}");
            let text = format!("{stem}{}", checksum(&stem));
            let presented = Presented::parse(&text).unwrap();
            prop_assert_eq!(presented.id.as_str(), id);
        }

        #[test]
        fn a_changed_character_is_noticed(place in 0..66usize, character in "[0-9A-Za-z_]") {
            let (_, text) = DeveloperKeyText::generate(&mut rand::rng());
            let mut changed = text.expose().to_owned();
            changed.replace_range(place..=place, &character);
            prop_assert_eq!(Presented::parse(&changed).is_some(), changed == text.expose());
        }
    }
}
