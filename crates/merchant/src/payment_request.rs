//! The transaction that a wallet is asked to send.

use alloy_primitives::{Address, B256, Bytes};
use alloy_sol_types::SolCall;
use contracts::{PlatformFees, fees::FeeSource};
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
}
