//! The transaction that a wallet is asked to send.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolCall;
use contracts::{PlatformCheckout, PlatformFees, fees::FeeSource, quote::QuoteTerms};
use domain::Wei;

/// A transaction for a wallet to sign and send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PaymentRequest {
    /// The chain it is for.
    pub chain_id: u64,
    /// The contract.
    pub to: Address,
    /// The coin it carries.
    pub value: Wei,
    /// Its input.
    pub data: Bytes,
}

impl PaymentRequest {
    /// Pays a fee of the portal with this reference.
    pub fn fee(chain_id: u64, fees: Address, value: Wei, reference: B256) -> Self {
        let call = PlatformFees::payCall { source: FeeSource::DeveloperPortal.id(), r#ref: reference };
        Self { chain_id, to: fees, value, data: call.abi_encode().into() }
    }

    /// Settles a quote.
    pub fn quote(terms: &QuoteTerms) -> Self {
        let call = PlatformCheckout::payCall {
            quoteId: terms.id(),
            merchant: terms.merchant,
            amount: terms.amount,
            deadline: U256::from(terms.deadline),
            salt: terms.salt,
        };
        let (chain_id, to) = (terms.chain_id, terms.checkout);
        Self { chain_id, to, value: Wei(terms.amount), data: call.abi_encode().into() }
    }
}
