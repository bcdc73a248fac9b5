//! Whether a wallet has signed: with its key, or as its contract says (ERC-1271), be the contract not there yet (ERC-6492).

use alloy_primitives::{Address, B256, Bytes, Signature, U256, b256};
use alloy_sol_types::{SolCall, SolValue, sol};
use chain::{At, ChainClient, ChainError};
use contracts::SignatureValidator;

use super::AccountType;

sol! {
    /// ERC-1271: answers with its own selector.
    function isValidSignature(bytes32 hash, bytes signature) external view returns (bytes4 magic);
}

/// What a signature of a contract that may not be there yet ends with (ERC-6492).
const COUNTERFACTUAL: B256 = b256!("6492649264926492649264926492649264926492649264926492649264926492");

/// Who has signed a hash for an address; nobody if it is not its signature. An error if the chain has to tell and cannot.
///
/// A key is tried first: it needs no chain, and who has the key of an address is that address, whatever code EIP-7702 has
/// put there. That a key does not fit is no verdict yet, because contracts read signatures of any form.
pub(super) async fn verify(
    client: &dyn ChainClient,
    address: Address,
    hash: B256,
    signature: &Bytes,
) -> Result<Option<AccountType>, ChainError> {
    if recover(hash, signature) == Some(address) {
        return Ok(Some(AccountType::Eoa));
    }
    let is_valid = if signature.ends_with(COUNTERFACTUAL.as_slice()) {
        is_valid_after_deployment(client, address, hash, signature).await
    } else {
        is_valid_for_contract(client, address, hash, signature).await
    };
    match is_valid {
        Ok(is_valid) => Ok(is_valid.then_some(AccountType::Contract)),
        // The contract, or the gas for it, came to an end: it does not say yes.
        Err(ChainError::Reverted { .. } | ChainError::Refused { .. }) => Ok(None),
        Err(
            error @ (ChainError::Unavailable(_) | ChainError::TimedOut | ChainError::NotUnderstood { .. }),
        ) => Err(error),
    }
}

/// The address whose key made a signature of 65 bytes. Of the two forms that every signature has, only the one with the
/// low `s` is taken, as everywhere since EIP-2.
fn recover(hash: B256, signature: &[u8]) -> Option<Address> {
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

async fn is_valid_for_contract(
    client: &dyn ChainClient,
    address: Address,
    hash: B256,
    signature: &Bytes,
) -> Result<bool, ChainError> {
    if client.account(address, At::Head).await?.code.is_empty() {
        return Ok(false);
    }
    let call = isValidSignatureCall { hash, signature: signature.clone() };
    let answer = client.call(address, call.abi_encode().into(), At::Head).await?;
    let mut magic = [0; 32];
    let (selector, _) = magic.split_at_mut(4);
    selector.copy_from_slice(&isValidSignatureCall::SELECTOR);
    Ok(answer.get(..32) == Some(magic.as_slice()))
}

/// Puts the contract there in a call that leaves nothing behind, and asks it.
async fn is_valid_after_deployment(
    client: &dyn ChainClient,
    address: Address,
    hash: B256,
    signature: &Bytes,
) -> Result<bool, ChainError> {
    let mut init = SignatureValidator::BYTECODE.to_vec();
    init.extend((address, hash, signature.clone()).abi_encode_params());
    let answer = client.call_creation(init.into(), At::Head).await?;
    Ok(answer.as_ref() == [1])
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
