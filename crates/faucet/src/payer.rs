//! The account that pays: its key, and the transfers it signs.

use alloy_consensus::{SignableTransaction, TxEip1559, TxEnvelope};
use alloy_eips::Encodable2718;
use alloy_primitives::{Address, TxKind, U256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use domain::Wei;
use store::PaymentRow;

/// What a transfer without data costs; too little for a contract to do anything with it.
const GAS: u64 = 21_000;
/// Least price per gas that a transfer may cost at most. What is not needed is not paid.
const PRICE_FLOOR: u128 = 1_000_000_000;
/// By how much the base fee may grow until the transfer is mined: over 17 full blocks.
const BASE_FEE_GROWTH: u128 = 8;

/// The account that pays.
pub(crate) struct Payer {
    signer: PrivateKeySigner,
    chain_id: u64,
}

/// What a transfer offers for its gas.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fees_follow_the_price_and_leave_room() {
        let free = Fees::new(U256::ZERO, 0);
        assert_eq!((free.tip, free.most), (0, PRICE_FLOOR));
        let dear = Fees::new(U256::from(3_000_000_000u64), 2_000_000_000);
        assert_eq!((dear.tip, dear.most), (1_000_000_000, 17_000_000_000));
        assert_eq!(Fees::new(U256::MAX, u64::MAX).most, u128::MAX);
    }
}
