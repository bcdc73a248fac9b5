//! Transactions of an account, in a list.

use alloy_primitives::Address;
use serde::Serialize;
use store::index::TransactionRow;
use utoipa::ToSchema;

use super::{
    AddressText, CoinText, HashText, Long, TimeText, WeiText,
    transaction::{MethodView, TransactionStatus},
};

/// Transactions of an account, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AccountTransactionsView {
    /// The account.
    pub(crate) address: AddressText,
    /// The transactions of this page.
    pub(crate) transactions: Vec<TransactionSummary>,
    /// Where the next page begins; null on the last.
    #[schema(example = "dDoxMDIzOjA")]
    pub(crate) next_cursor: Option<String>,
    /// The last block whose transactions are listed; null while nothing is indexed.
    pub(crate) as_of_block: Option<Long>,
}

/// A transaction in a list.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TransactionSummary {
    /// The transaction's hash.
    hash: HashText,
    /// What became of it.
    status: TransactionStatus,
    /// Height of its block.
    block_number: Long,
    /// Its place in the block.
    #[schema(example = 0)]
    index: u32,
    /// Time of its block.
    timestamp: TimeText,
    /// Which way it went, seen from the account.
    direction: Direction,
    /// Who sent it.
    from: AddressText,
    /// Who received it; null when it created a contract.
    to: Option<AddressText>,
    /// The contract that it created.
    contract_address: Option<AddressText>,
    /// Coin sent along.
    value: CoinText,
    /// The same in wei.
    value_wei: WeiText,
    /// How many transactions its sender had sent before.
    #[schema(example = 0)]
    nonce: Long,
    /// Gas it used.
    gas_used: Long,
    /// What it paid for gas, in coin.
    fee: CoinText,
    /// The same in wei.
    fee_wei: WeiText,
    /// The function it calls.
    method: Option<MethodView>,
}

/// Which way a transaction went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Direction {
    /// The account received it, or was created by it.
    In,
    /// The account sent it.
    Out,
    /// The account sent it to itself.
    Own,
}

impl TransactionSummary {
    pub(crate) fn new(row: &TransactionRow, account: Address) -> Self {
        let direction = match (row.from == account, row.to == Some(account)) {
            (true, true) => Direction::Own,
            (true, false) => Direction::Out,
            (false, _) => Direction::In,
        };
        Self {
            hash: HashText(row.hash),
            status: if row.success { TransactionStatus::Success } else { TransactionStatus::Failed },
            block_number: Long(row.block_number),
            index: row.index,
            timestamp: TimeText::from_unix(row.timestamp),
            direction,
            from: AddressText(row.from),
            to: row.to.map(AddressText),
            contract_address: row.contract_address.map(AddressText),
            value: CoinText(row.value),
            value_wei: WeiText(row.value.0),
            nonce: Long(row.nonce),
            gas_used: Long(row.gas_used),
            fee: CoinText(row.fee),
            fee_wei: WeiText(row.fee.0),
            method: row.selector.filter(|_| row.to.is_some()).map(MethodView::new),
        }
    }
}
