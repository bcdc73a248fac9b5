//! What proves a key: the HMAC-SHA256 of its text under a secret that is not in the database.
//!
//! A slow hash protects passwords, which people choose from a small space; a secret of 256 random bits cannot be tried out
//! at any speed, and a slow hash would cost every request. The pepper makes a stolen database worthless for forging rows.

use std::fmt;

use domain::portal::DeveloperKeyId;
use hmac::{Hmac, Mac};
use rand::{CryptoRng, Rng};
use sha2::Sha256;
use subtle::ConstantTimeEq;

use super::text::DeveloperKeyText;

/// Bytes of a pepper below which it could be guessed.
const SHORTEST: usize = 16;

/// A secret that keys are proven with.
#[derive(Clone)]
pub struct Pepper {
    version: u16,
    secret: Vec<u8>,
}

/// Why peppers cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PepperError {
    /// There is none.
    #[error("at least one pepper is needed")]
    None,
    /// A secret can be guessed.
    #[error("a pepper has at least {SHORTEST} bytes")]
    Short,
    /// Two have the same version.
    #[error("there are two peppers of version {0}")]
    Repeated(u16),
}

/// The peppers of all keys that are good. New keys get the newest.
#[derive(Debug, Clone)]
pub struct Peppers {
    newest: Pepper,
    older: Vec<Pepper>,
}

/// A key that was made just now. Its text is shown once and cannot be found again.
#[derive(Debug, Clone)]
pub struct MintedKey {
    /// Its public part.
    pub id: DeveloperKeyId,
    /// The key.
    pub text: DeveloperKeyText,
    /// What is kept to prove it.
    pub mac: [u8; 32],
    /// The pepper that the MAC was made with.
    pub pepper_version: u16,
    /// The end of the text, for its owner to know it by.
    pub last4: String,
}

impl Pepper {
    /// A pepper. A version stands for one secret for ever.
    pub fn new(version: u16, secret: Vec<u8>) -> Result<Self, PepperError> {
        if secret.len() < SHORTEST {
            return Err(PepperError::Short);
        }
        Ok(Self { version, secret })
    }

    fn mac(&self, text: &str) -> [u8; 32] {
        // Keys of HMAC have any length.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.secret) else { return [0; 32] };
        mac.update(text.as_bytes());
        mac.finalize().into_bytes().into()
    }
}

impl fmt::Debug for Pepper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pepper").field("version", &self.version).finish_non_exhaustive()
    }
}

impl Peppers {
    /// These peppers, in any order.
    pub fn new(mut peppers: Vec<Pepper>) -> Result<Self, PepperError> {
        peppers.sort_by_key(|pepper| pepper.version);
        let repeated = peppers.windows(2).find_map(|pair| match pair {
            [one, other] if one.version == other.version => Some(one.version),
            _ => None,
        });
        if let Some(version) = repeated {
            return Err(PepperError::Repeated(version));
        }
        let newest = peppers.pop().ok_or(PepperError::None)?;
        Ok(Self { newest, older: peppers })
    }

    /// Makes a key.
    pub fn mint(&self, random: &mut (impl CryptoRng + Rng)) -> MintedKey {
        let (id, text) = DeveloperKeyText::generate(random);
        let mac = self.newest.mac(text.expose());
        let last4 = text.last4();
        MintedKey { id, text, mac, pepper_version: self.newest.version, last4 }
    }

    /// Whether a text is that of the key with this MAC and pepper. Takes as long for a key that does not exist.
    pub(super) fn proves(&self, text: &str, kept: Option<(&[u8; 32], u16)>) -> bool {
        let known = kept.and_then(|(mac, version)| Some((mac, self.find(version)?)));
        let (mac, pepper) = known.unwrap_or((&[0; 32], &self.newest));
        let is_equal = pepper.mac(text).ct_eq(mac);
        bool::from(is_equal) && known.is_some()
    }

    /// Whether there is a pepper of this version.
    pub(super) fn knows(&self, version: u16) -> bool {
        self.find(version).is_some()
    }

    fn find(&self, version: u16) -> Option<&Pepper> {
        std::iter::once(&self.newest).chain(&self.older).find(|pepper| pepper.version == version)
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::hex;

    use super::*;

    fn pepper(version: u16) -> Pepper {
        Pepper::new(version, vec![u8::try_from(version).unwrap(); 32]).unwrap()
    }

    #[test]
    fn the_mac_is_the_one_that_others_compute() {
        let pepper = Pepper { version: 1, secret: b"pepper-v1".to_vec() };
        let key = "acme_live_7Kq2mXc9TzPa_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefg2ZZr0T";
        let expected = "cc6a4862a1433babc6f7c126e832d775d6055c42900cf063c53f9e1de3be206f";
        assert_eq!(hex::encode(pepper.mac(key)), expected);
    }

    #[test]
    fn the_newest_pepper_makes_keys_and_older_ones_still_prove_theirs() {
        let old = Peppers::new(vec![pepper(1)]).unwrap();
        let both = Peppers::new(vec![pepper(2), pepper(1)]).unwrap();
        let (first, second) = (old.mint(&mut rand::rng()), both.mint(&mut rand::rng()));
        assert_eq!((first.pepper_version, second.pepper_version), (1, 2));
        for key in [&first, &second] {
            assert!(both.proves(key.text.expose(), Some((&key.mac, key.pepper_version))));
        }
        assert!(!both.proves(first.text.expose(), Some((&second.mac, 2))));
        assert!(!both.proves(first.text.expose(), Some((&first.mac, 2))));
        assert!(!both.proves(first.text.expose(), None));
        assert!(!old.proves(second.text.expose(), Some((&second.mac, 2))) && !old.knows(2));
    }

    #[test]
    fn peppers_are_long_numbered_and_never_shown() {
        assert_eq!(Peppers::new(Vec::new()).unwrap_err(), PepperError::None);
        assert_eq!(Peppers::new(vec![pepper(1), pepper(1)]).unwrap_err(), PepperError::Repeated(1));
        assert_eq!(Pepper::new(1, vec![7; 15]).unwrap_err(), PepperError::Short);
        let shown =
            format!("{:?}", Peppers::new(vec![Pepper::new(1, b"correct horse battery".to_vec()).unwrap()]));
        assert!(!shown.contains("99, 111") && !shown.contains("correct"), "{shown}");
    }
}
