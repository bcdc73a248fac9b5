//! Committed seals and the signatures of messages: the 65-byte form, and the two traits through which the rest
//! of the crate signs and recovers. The real scheme is secp256k1; simulations bring a cheaper one.

use alloy_consensus::crypto::secp256k1;
use alloy_primitives::{Address, B256, Signature, U256, uint};

/// Order of the secp256k1 group: the exclusive bound of `r` and `s`.
const CURVE_ORDER: U256 = uint!(0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141_U256);

/// Bytes of an encoded seal: `r || s || v`.
pub const SEAL_LENGTH: usize = 65;

/// A recoverable signature whose `r` and `s` are in range and whose `v` is 0 or 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seal(Signature);

/// Why 65 bytes are not a seal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SealError {
    /// The recovery byte is neither 0 nor 1 (27 and 28 are refused too).
    #[error("recovery byte {found} is neither 0 nor 1")]
    RecoveryByte {
        /// The byte found.
        found: u8,
    },
    /// `r` or `s` is zero or not below the curve order.
    #[error("signature value {value} is out of range")]
    ValueRange {
        /// The offending `r` or `s`.
        value: U256,
    },
}

impl Seal {
    /// Builds a seal from its parts; `odd` is `v`.
    pub fn new(r: U256, s: U256, odd: bool) -> Result<Self, SealError> {
        for value in [r, s] {
            if value.is_zero() || value >= CURVE_ORDER {
                return Err(SealError::ValueRange { value });
            }
        }
        Ok(Self(Signature::new(r, s, odd)))
    }

    /// Reads `r || s || v`.
    pub fn from_bytes(bytes: &[u8; SEAL_LENGTH]) -> Result<Self, SealError> {
        let [rs @ .., v] = bytes;
        let (r, s) = rs.split_at(32);
        let odd = match v {
            0 => false,
            1 => true,
            &found => return Err(SealError::RecoveryByte { found }),
        };
        Self::new(U256::from_be_slice(r), U256::from_be_slice(s), odd)
    }

    /// Writes `r || s || v`.
    pub fn to_bytes(&self) -> [u8; SEAL_LENGTH] {
        self.0.as_rsy()
    }

    /// The signature as alloy knows it.
    pub const fn signature(&self) -> &Signature {
        &self.0
    }
}

/// Finds out who made a seal.
pub trait SealScheme {
    /// The address whose key signed `digest`, if the seal is a signature at all.
    fn recover(&self, digest: B256, seal: &Seal) -> Option<Address>;
}

/// The key of one validator.
pub trait ValidatorKey: SealScheme {
    /// The validator's address.
    fn address(&self) -> Address;
    /// Signs a digest as it is: no prefix, no second hash.
    fn sign(&self, digest: B256) -> Seal;
}

/// The scheme of the real chain: recoverable secp256k1. High `s` values are accepted, as Besu does.
#[derive(Debug, Clone, Copy, Default)]
pub struct Secp256k1;

impl SealScheme for Secp256k1 {
    fn recover(&self, digest: B256, seal: &Seal) -> Option<Address> {
        secp256k1::recover_signer_unchecked(seal.signature(), digest).ok()
    }
}

/// A secp256k1 private key that is known to be usable. It does not print its secret.
#[derive(Clone)]
pub struct Secp256k1Key {
    secret: B256,
    address: Address,
}

/// The 32 bytes are zero or not below the curve order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a secp256k1 private key")]
pub struct InvalidKey;

impl Secp256k1Key {
    /// Takes a private key and derives its address.
    pub fn new(secret: B256) -> Result<Self, InvalidKey> {
        // alloy does not expose the public key; a signature recovers to the address just as well.
        let signature = secp256k1::sign_message(secret, B256::ZERO).map_err(|_| InvalidKey)?;
        let address = secp256k1::recover_signer_unchecked(&signature, B256::ZERO).map_err(|_| InvalidKey)?;
        Ok(Self { secret, address })
    }
}

impl std::fmt::Debug for Secp256k1Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Secp256k1Key").field("address", &self.address).finish_non_exhaustive()
    }
}

impl SealScheme for Secp256k1Key {
    fn recover(&self, digest: B256, seal: &Seal) -> Option<Address> {
        Secp256k1.recover(digest, seal)
    }
}

impl ValidatorKey for Secp256k1Key {
    fn address(&self) -> Address {
        self.address
    }

    #[expect(
        clippy::expect_used,
        reason = "signing fails for an unusable secret only, and `new` has signed with it"
    )]
    fn sign(&self, digest: B256) -> Seal {
        Seal(secp256k1::sign_message(self.secret, digest).expect("the secret has signed before"))
    }
}
