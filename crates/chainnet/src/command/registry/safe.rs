//! The transaction that the owners of the treasury's Safe sign.

use alloy_primitives::{Address, B256, Bytes, U256};
use anyhow::Context;
use chain::{At, ChainClient, contract};
use contracts::SafeL2;

use super::plan::Plan;

/// A Safe's transaction, with who has to sign it.
pub(super) struct SafeTransaction {
    pub(super) safe: Address,
    pub(super) to: Address,
    pub(super) value: U256,
    pub(super) data: Bytes,
    pub(super) nonce: U256,
    /// What the owners sign.
    pub(super) hash: B256,
    pub(super) owners: Vec<Address>,
    pub(super) threshold: U256,
}

/// The transaction for the Safe's present nonce; the Safe itself hashes it.
pub(super) async fn transaction(
    client: &dyn ChainClient,
    safe: Address,
    to: Address,
    plan: &Plan,
) -> anyhow::Result<SafeTransaction> {
    let no_safe = || format!("the treasury at {safe} does not answer like a Safe");
    let nonce = contract::call(client, safe, &SafeL2::nonceCall {}, At::Head).await.with_context(no_safe)?;
    let owners =
        contract::call(client, safe, &SafeL2::getOwnersCall {}, At::Head).await.with_context(no_safe)?;
    let threshold =
        contract::call(client, safe, &SafeL2::getThresholdCall {}, At::Head).await.with_context(no_safe)?;
    let hashing = SafeL2::getTransactionHashCall {
        to,
        value: plan.value,
        data: plan.input.clone(),
        operation: 0,
        safeTxGas: U256::ZERO,
        baseGas: U256::ZERO,
        gasPrice: U256::ZERO,
        gasToken: Address::ZERO,
        refundReceiver: Address::ZERO,
        _nonce: nonce,
    };
    let hash = contract::call(client, safe, &hashing, At::Head).await.with_context(no_safe)?;
    Ok(SafeTransaction {
        safe,
        to,
        value: plan.value,
        data: plan.input.clone(),
        nonce,
        hash,
        owners,
        threshold,
    })
}
