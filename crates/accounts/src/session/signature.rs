//! Whether a wallet has signed: with its key, or as its contract says (ERC-1271), be the contract not there yet (ERC-6492).

use alloy_primitives::{Address, B256, Bytes, b256};
use alloy_sol_types::{SolCall, SolValue, sol};
use chain::{At, ChainClient, ChainError};
use contracts::SignatureValidator;

use super::{AccountType, recover::recover};

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
