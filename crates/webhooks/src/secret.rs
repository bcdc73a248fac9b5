//! Webhook secrets: what a receiver checks signatures with. They must be readable for signing, so at rest they are sealed
//! under a key that is not in the database, and bound to their wallet.

use std::fmt;

use alloy_primitives::Address;
use base64::{Engine, engine::general_purpose::STANDARD};
use chacha20poly1305::{
    KeyInit, XChaCha20Poly1305, XNonce,
    aead::{Aead, Payload},
};
use jiff::Timestamp;
use store::portal::SealedSecrets;

/// What the text of a secret begins with.
const PREFIX: &str = "whsec_";
/// Random bytes of a secret.
const LENGTH: usize = 24;
const NONCE: usize = 24;

/// A webhook's secret. Printed for its owner once, never in the log.
#[derive(Clone, PartialEq, Eq)]
pub struct WebhookSecret(String);

/// The keys that seal secrets, by version. The highest version seals; all of them open.
#[derive(Clone)]
pub struct SealingKeys {
    /// Never empty; the last one seals.
    keys: Vec<(u8, XChaCha20Poly1305)>,
}

/// Why there is no way to seal secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("webhook secrets need at least one key, and every version once")]
pub struct NoSealingKey;

/// Why a sealed secret cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnsealError {
    /// Not as long as it must be.
    #[error("the sealed secret is cut off")]
    Cut,
    /// Sealed with a key that we do not have.
    #[error("the secret is sealed with version {0} of the key, which is not configured")]
    UnknownVersion(u8),
    /// Changed, of another wallet, or sealed with another key of this version.
    #[error("the secret does not open: it was changed, or belongs to somebody else")]
    Forged,
}

/// The randomness of the machine failed, or sealing did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the secret cannot be sealed")]
pub struct SealError;

/// The secrets of a webhook, opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Secrets {
    current: WebhookSecret,
    /// The one that follows, and from when on, in Unix milliseconds.
    next: Option<(WebhookSecret, u64)>,
}

impl WebhookSecret {
    /// A new one.
    pub fn generate() -> Self {
        let bytes: [u8; LENGTH] = rand::random();
        Self(format!("{PREFIX}{}", STANDARD.encode(bytes)))
    }

    /// The text that its owner is shown.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The bytes behind the text, which Standard Webhooks signs with.
    pub(crate) fn decoded(&self) -> Vec<u8> {
        self.0.strip_prefix(PREFIX).and_then(|text| STANDARD.decode(text).ok()).unwrap_or_default()
    }
}

#[cfg(test)]
impl From<&str> for WebhookSecret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WebhookSecret(hidden)")
    }
}

impl SealingKeys {
    /// The keys with these versions.
    pub fn new(keys: impl IntoIterator<Item = (u8, [u8; 32])>) -> Result<Self, NoSealingKey> {
        let mut keys: Vec<_> =
            keys.into_iter().map(|(version, key)| (version, XChaCha20Poly1305::new(&key.into()))).collect();
        keys.sort_by_key(|(version, _)| *version);
        let is_repeated = keys.iter().zip(keys.iter().skip(1)).any(|(one, next)| one.0 == next.0);
        if keys.is_empty() || is_repeated { Err(NoSealingKey) } else { Ok(Self { keys }) }
    }

    /// Seals a wallet's secret: version, nonce and ciphertext.
    pub fn seal(&self, wallet: Address, secret: &WebhookSecret) -> Result<Vec<u8>, SealError> {
        let (version, key) = self.keys.last().ok_or(SealError)?;
        let nonce: [u8; NONCE] = rand::random();
        let payload = Payload { msg: secret.0.as_bytes(), aad: wallet.as_slice() };
        let sealed = key.encrypt(&XNonce::from(nonce), payload).map_err(|_| SealError)?;
        Ok([&[*version], nonce.as_slice(), &sealed].concat())
    }

    /// The way back of [`Self::seal`].
    pub fn open(&self, wallet: Address, sealed: &[u8]) -> Result<WebhookSecret, UnsealError> {
        let (version, rest) = sealed.split_first().ok_or(UnsealError::Cut)?;
        let (nonce, msg) = rest.split_first_chunk::<NONCE>().ok_or(UnsealError::Cut)?;
        let key = self.keys.iter().find(|(known, _)| known == version);
        let (_, key) = key.ok_or(UnsealError::UnknownVersion(*version))?;
        let text = key.decrypt(&XNonce::from(*nonce), Payload { msg, aad: wallet.as_slice() });
        let text = text.map_err(|_| UnsealError::Forged)?;
        String::from_utf8(text).map(WebhookSecret).map_err(|_| UnsealError::Forged)
    }

    /// Opens all secrets of a webhook.
    pub fn open_all(&self, wallet: Address, sealed: &SealedSecrets) -> Result<Secrets, UnsealError> {
        let next =
            sealed.next.as_ref().map(|(sealed, at)| Ok((self.open(wallet, sealed)?, *at))).transpose()?;
        Ok(Secrets { current: self.open(wallet, &sealed.current)?, next })
    }
}

impl fmt::Debug for SealingKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.keys.iter().map(|(version, _)| version)).finish()
    }
}

impl Secrets {
    /// A webhook's secrets.
    pub fn new(current: WebhookSecret, next: Option<(WebhookSecret, u64)>) -> Self {
        Self { current, next }
    }

    /// The one that signs at a time, and the one that follows if receivers are to be told already.
    pub fn at(&self, now: Timestamp) -> (&WebhookSecret, Option<&WebhookSecret>) {
        match &self.next {
            None => (&self.current, None),
            Some((next, from)) if i128::from(*from) <= i128::from(now.as_millisecond()) => (next, None),
            Some((next, _)) => (&self.current, Some(next)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WALLET: Address = Address::repeat_byte(7);

    fn keys(versions: &[u8]) -> SealingKeys {
        SealingKeys::new(versions.iter().map(|version| (*version, [*version; 32]))).unwrap()
    }

    #[test]
    fn a_secret_is_24_random_bytes_and_hides_in_the_log() {
        let secret = WebhookSecret::generate();
        assert_eq!((secret.as_str().len(), secret.decoded().len()), (6 + 32, 24));
        assert_ne!(secret, WebhookSecret::generate());
        assert!(!format!("{secret:?} {:?}", keys(&[1])).contains(&secret.as_str()[6..]));
    }

    #[test]
    fn a_sealed_secret_opens_for_its_wallet_alone() {
        let (keys, secret) = (keys(&[1]), WebhookSecret::generate());
        let sealed = keys.seal(WALLET, &secret).unwrap();
        assert_ne!(sealed, keys.seal(WALLET, &secret).unwrap());
        assert_eq!(keys.open(WALLET, &sealed), Ok(secret));
        assert_eq!(keys.open(Address::ZERO, &sealed), Err(UnsealError::Forged));
        for place in 1..sealed.len() {
            let mut changed = sealed.clone();
            changed[place] ^= 1;
            assert_eq!(keys.open(WALLET, &changed), Err(UnsealError::Forged), "byte {place}");
        }
        assert_eq!(keys.open(WALLET, &sealed[..24]), Err(UnsealError::Cut));
        assert_eq!(keys.open(WALLET, &[]), Err(UnsealError::Cut));
    }

    #[test]
    fn a_new_key_seals_and_the_old_one_still_opens() {
        let secret = WebhookSecret::generate();
        let old = keys(&[1]).seal(WALLET, &secret).unwrap();
        let both = keys(&[2, 1]);
        assert_eq!(both.open(WALLET, &old), Ok(secret.clone()));
        let new = both.seal(WALLET, &secret).unwrap();
        assert_eq!((new[0], keys(&[1]).open(WALLET, &new)), (2, Err(UnsealError::UnknownVersion(2))));
        assert!(SealingKeys::new([]).is_err() && SealingKeys::new([(1, [0; 32]), (1, [1; 32])]).is_err());
    }

    #[test]
    fn the_next_secret_takes_over_at_its_time() {
        let (old, new) = (WebhookSecret::generate(), WebhookSecret::generate());
        let secrets = Secrets::new(old.clone(), Some((new.clone(), 5_000)));
        let at = |millis| Timestamp::from_millisecond(millis).unwrap();
        assert_eq!(secrets.at(at(4_999)), (&old, Some(&new)));
        assert_eq!(secrets.at(at(5_000)), (&new, None));
    }
}
