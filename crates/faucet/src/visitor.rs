//! Network addresses as they are kept: hashed with a key, so that the database says who came twice and not who came.

use access::Client;
use alloy_primitives::{B256, keccak256};
use alloy_signer_local::PrivateKeySigner;
use sha2::{Digest, Sha256};

/// Bytes that SHA-256 takes at a time.
const BLOCK: usize = 64;

/// The key that addresses are hashed with. It follows from the payer's key, so that all processes of a faucet agree and
/// there is no further secret to keep.
pub(crate) struct VisitorKey(B256);

impl VisitorKey {
    pub(crate) fn derive(payer: &PrivateKeySigner) -> Self {
        let mut text = b"chainnet faucet visitors ".to_vec();
        text.extend_from_slice(payer.to_bytes().as_slice());
        Self(keccak256(text))
    }

    /// What is kept of a visitor.
    pub(crate) fn hash(&self, visitor: Client) -> B256 {
        match visitor {
            Client::V4(address) => self.hmac(&[&[4], &address.octets()]),
            Client::V6(prefix) => self.hmac(&[&[6], &prefix]),
        }
    }

    /// HMAC-SHA256 (RFC 2104) with a key that is shorter than a block.
    fn hmac(&self, parts: &[&[u8]]) -> B256 {
        let pad = |byte: u8| {
            let mut block = [byte; BLOCK];
            block.iter_mut().zip(self.0).for_each(|(padded, key)| *padded ^= key);
            block
        };
        let mut inner = Sha256::new_with_prefix(pad(0x36));
        parts.iter().for_each(|part| inner.update(part));
        let outer = Sha256::new_with_prefix(pad(0x5c)).chain_update(inner.finalize());
        B256::from_slice(&outer.finalize())
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use alloy_primitives::b256;

    use super::*;

    fn hash(key: &VisitorKey, address: &str) -> B256 {
        key.hash(address.parse::<IpAddr>().unwrap().into())
    }

    #[test]
    fn the_hash_is_hmac() {
        // RFC 4231, case 1: a key of 20 bytes, which zeros fill up to ours of 32.
        let mut key = [0; 32];
        key[..20].fill(0x0b);
        let expected = b256!("b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
        assert_eq!(VisitorKey(B256::from(key)).hmac(&[b"Hi ", b"There"]), expected);
    }

    #[test]
    fn visitors_differ_as_clients_do_and_by_key() {
        let key = VisitorKey::derive(&PrivateKeySigner::from_bytes(&B256::repeat_byte(1)).unwrap());
        let other = VisitorKey::derive(&PrivateKeySigner::from_bytes(&B256::repeat_byte(2)).unwrap());
        assert_eq!(hash(&key, "2001:db8:1:2::1"), hash(&key, "2001:db8:1:2:ffff::9"));
        assert_ne!(hash(&key, "2001:db8:1:2::1"), hash(&key, "2001:db8:1:3::1"));
        assert_eq!(hash(&key, "::ffff:203.0.113.7"), hash(&key, "203.0.113.7"));
        assert_ne!(hash(&key, "203.0.113.7"), hash(&key, "203.0.113.8"));
        assert_ne!(hash(&key, "203.0.113.7"), hash(&other, "203.0.113.7"));
    }
}
