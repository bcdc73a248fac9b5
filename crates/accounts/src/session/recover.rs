//! Who made a signature: bytes of anybody in, an address out. Pure, so that it can be fuzzed alone.

use alloy_primitives::{Address, B256, Signature, U256};

/// The address whose key made a signature of 65 bytes. Of the two forms that every signature has, only the one with the
/// low `s` is taken, as everywhere since EIP-2.
pub(super) fn recover(hash: B256, signature: &[u8]) -> Option<Address> {
    let bytes: &[u8; 65] = signature.try_into().ok()?;
    let [.., v] = *bytes;
    let is_odd = match v {
        0 | 27 => false,
        1 | 28 => true,
        _ => return None,
    };
    let (r, rest) = bytes.split_at(32);
    let s = rest.get(..32)?;
    let signature = Signature::new(U256::from_be_slice(r), U256::from_be_slice(s), is_odd);
    if signature.normalize_s().is_some() {
        return None;
    }
    signature.recover_address_from_prehash(&hash).ok()
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{eip191_hash_message, uint};
    use alloy_signer::SignerSync;
    use alloy_signer_local::PrivateKeySigner;

    use super::*;

    const ORDER: U256 = uint!(0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141_U256);

    #[test]
    fn a_key_is_recovered_from_the_one_low_form_of_its_signature() {
        let signer = PrivateKeySigner::from_bytes(&B256::repeat_byte(7)).unwrap();
        let hash = eip191_hash_message("a text");
        let signature = signer.sign_message_sync(b"a text").unwrap();
        let bytes = signature.as_bytes();
        for v in [signature.v() as u8, 27 + signature.v() as u8] {
            let spelt = [&bytes[..64], &[v]].concat();
            assert_eq!(recover(hash, &spelt), Some(signer.address()), "{v}");
        }
        let high = Signature::new(signature.r(), ORDER - signature.s(), !signature.v());
        assert_eq!(high.recover_address_from_prehash(&hash).unwrap(), signer.address(), "it would recover");
        assert_eq!(recover(hash, &high.as_bytes()), None);
        assert_ne!(recover(eip191_hash_message("another"), &bytes), Some(signer.address()));
        let other_v = [&bytes[..64], &[29]].concat();
        for wrong in [&bytes[..64], &[], &[0; 65], &other_v, &[&bytes[..], &[0]].concat()] {
            assert_eq!(recover(hash, wrong), None);
        }
    }
}
