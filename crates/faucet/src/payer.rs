//! The account that pays: its key, and the transfers it signs.

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, TxKind};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use chain::Fees;
use domain::Wei;
use store::PaymentRow;

/// What a transfer without data costs; too little for a contract to do anything with it.
const GAS: u64 = 21_000;

/// The account that pays.
pub(crate) struct Payer {
    signer: PrivateKeySigner,
    chain_id: u64,
}

impl Payer {
    pub(crate) fn new(signer: PrivateKeySigner, chain_id: u64) -> Self {
        Self { signer, chain_id }
    }

    pub(crate) fn address(&self) -> Address {
        self.signer.address()
    }

    /// Signs a transfer, at the head with this number.
    pub(crate) fn sign(
        &self,
        to: Address,
        amount: Wei,
        nonce: u64,
        fees: Fees,
        head: u64,
    ) -> Result<PaymentRow, alloy_signer::Error> {
        let tx = TxEip1559 {
            chain_id: self.chain_id,
            nonce,
            gas_limit: GAS,
            max_fee_per_gas: fees.most,
            max_priority_fee_per_gas: fees.tip,
            to: TxKind::Call(to),
            value: amount.0,
            ..TxEip1559::default()
        };
        let signature = self.signer.sign_hash_sync(&tx.signature_hash())?;
        let envelope = TxEnvelope::from(tx.into_signed(signature));
        Ok(PaymentRow {
            payer: self.address(),
            nonce,
            signed_block: head,
            raw: envelope.encoded_2718().into(),
            hash: *envelope.tx_hash(),
        })
    }
}
