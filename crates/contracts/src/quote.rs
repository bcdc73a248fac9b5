//! The id of a `PlatformCheckout` quote: the hash of its terms, computed here as the contract does.

use alloy_primitives::{Address, B256, U256, keccak256};
use alloy_sol_types::SolValue;

/// The type whose hash tags a quote.
pub const QUOTE_TYPE: &str =
    "Quote(uint256 chainId,address checkout,address merchant,uint256 amount,uint256 deadline,bytes32 salt)";

/// What a payer pays to whom until when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuoteTerms {
    /// Chain the payment happens on.
    pub chain_id: u64,
    /// The checkout contract.
    pub checkout: Address,
    /// Who receives the coin.
    pub merchant: Address,
    /// Price in wei.
    pub amount: U256,
    /// Last second of chain time in which the quote can be paid.
    pub deadline: u64,
    /// Makes equal terms distinct.
    pub salt: B256,
}

impl QuoteTerms {
    /// The quote's id.
    pub fn id(&self) -> B256 {
        let terms = (
            keccak256(QUOTE_TYPE),
            U256::from(self.chain_id),
            self.checkout,
            self.merchant,
            self.amount,
            U256::from(self.deadline),
            self.salt,
        );
        keccak256(terms.abi_encode())
    }
}
