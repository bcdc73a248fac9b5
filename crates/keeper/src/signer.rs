//! The keeper's account: its key, and the transactions it signs.

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, Bytes, TxKind};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use chain::Fees;
use store::keeper::ActionTransaction;

/// Enough for every call of the registry that the keeper makes; what is not used is not paid.
const CALL_GAS: u64 = 500_000;
/// What a transfer without data costs.
const TRANSFER_GAS: u64 = 21_000;

/// The account that acts.
pub(crate) struct Signer {
    key: PrivateKeySigner,
    chain_id: u64,
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
