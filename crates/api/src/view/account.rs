//! An account.

use alloy_primitives::{Address, KECCAK256_EMPTY, keccak256};
use async_graphql::SimpleObject;
use chain::Account;
use serde::Serialize;
use utoipa::ToSchema;

use super::{AddressText, CoinText, HashText, Long, WeiText};

/// An account after the newest block.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "Account")]
pub(crate) struct AccountView {
    /// The account's address.
    address: AddressText,
    /// Balance in coin.
    balance: CoinText,
    /// The same in wei.
    balance_wei: WeiText,
    /// Transactions it sent; for a contract, contracts it created.
    transaction_count: Long,
    /// Whether it has code.
    is_contract: bool,
    /// Hash of its code; the hash of nothing when it has none.
    code_hash: HashText,
    /// What the network knows it as.
    #[schema(example = "PlatformFees")]
    label: Option<String>,
    /// The validator it operates or seals for.
    validator: Option<AccountValidatorView>,
}

/// The validator behind an account, in short.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "AccountValidator")]
pub(crate) struct AccountValidatorView {
    /// Its operator.
    pub(crate) address: AddressText,
    /// Its display name.
    #[schema(example = "Jakarta One")]
    pub(crate) moniker: String,
    /// Its standing in the registry.
    #[schema(example = "ACTIVE")]
    pub(crate) status: String,
}

impl AccountView {
    pub(crate) fn new(
        address: Address,
        account: &Account,
        label: Option<String>,
        validator: Option<AccountValidatorView>,
    ) -> Self {
        let is_contract = !account.code.is_empty();
        Self {
            address: AddressText(address),
            balance: CoinText::of(account.balance),
            balance_wei: WeiText(account.balance),
            transaction_count: Long(account.nonce),
            is_contract,
            code_hash: HashText(if is_contract { keccak256(&account.code) } else { KECCAK256_EMPTY }),
            label,
            validator,
        }
    }
}
