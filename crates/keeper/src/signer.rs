//! The keeper's account: its key, and the transactions it signs.

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, Bytes, TxKind, U256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use store::keeper::ActionTransaction;

/// Enough for every call of the registry that the keeper makes; what is not used is not paid.
const CALL_GAS: u64 = 500_000;
/// What a transfer without data costs.
const TRANSFER_GAS: u64 = 21_000;
/// Least price per gas that a transaction may cost at most. What is not needed is not paid.
const PRICE_FLOOR: u128 = 1_000_000_000;
/// By how much the base fee may grow until the transaction is mined: over 17 full blocks.
const BASE_FEE_GROWTH: u128 = 8;

/// The account that acts.
pub(crate) struct Signer {
    key: PrivateKeySigner,
    chain_id: u64,
}

/// What a transaction offers for its gas.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fees {
    tip: u128,
    most: u128,
}

impl Fees {
    /// Enough at this price and base fee, and for a while when they rise.
    pub(crate) fn new(gas_price: U256, base_fee: u64) -> Self {
        let tip = gas_price.saturating_to::<u128>().saturating_sub(base_fee.into());
        let base = u128::from(base_fee).saturating_mul(BASE_FEE_GROWTH);
        Self { tip, most: base.saturating_add(tip).max(PRICE_FLOOR) }
    }

    /// More than enough to replace a transaction with the former fees, which nodes want to see grow by a tenth.
    fn outbidding(self) -> Self {
        let tip = self.tip.saturating_mul(2).max(1);
        Self { tip, most: self.most.saturating_mul(2).saturating_add(tip) }
    }
}

impl Signer {
    pub(crate) fn new(key: PrivateKeySigner, chain_id: u64) -> Self {
        Self { key, chain_id }
    }

    pub(crate) fn address(&self) -> Address {
        self.key.address()
    }

    /// Signs a call of a contract.
    pub(crate) fn call(
        &self,
        to: Address,
        input: Bytes,
        nonce: u64,
        fees: Fees,
    ) -> Result<ActionTransaction, alloy_signer::Error> {
        self.sign(
            TxEip1559 { to: TxKind::Call(to), input, gas_limit: CALL_GAS, ..self.draft(nonce, fees) },
            false,
        )
    }

    /// Signs a transfer of nothing to itself, which takes the nonce of a transaction that is not wanted any more.
    pub(crate) fn void(&self, nonce: u64, fees: Fees) -> Result<ActionTransaction, alloy_signer::Error> {
        let to = TxKind::Call(self.address());
        self.sign(TxEip1559 { to, gas_limit: TRANSFER_GAS, ..self.draft(nonce, fees.outbidding()) }, true)
    }

    fn draft(&self, nonce: u64, fees: Fees) -> TxEip1559 {
        TxEip1559 {
            chain_id: self.chain_id,
            nonce,
            max_fee_per_gas: fees.most,
            max_priority_fee_per_gas: fees.tip,
            ..TxEip1559::default()
        }
    }

    fn sign(&self, tx: TxEip1559, is_void: bool) -> Result<ActionTransaction, alloy_signer::Error> {
        let nonce = tx.nonce;
        let signature = self.key.sign_hash_sync(&tx.signature_hash())?;
        let envelope = TxEnvelope::from(tx.into_signed(signature));
        Ok(ActionTransaction {
            signer: self.address(),
            nonce,
            raw: envelope.encoded_2718().into(),
            hash: *envelope.tx_hash(),
            is_void,
        })
    }
}
