//! `/api/v1/accounts/…`: an account, and its transactions.

use std::sync::Arc;

use axum::extract::State;

use super::segment::Segment;
use crate::{
    edge::answer::{Answer, Holds},
    extract::{cursor::TransactionCursor, path, query::Query},
    problem::Problem,
    state::ApiState,
    view::{
        AddressText, Long,
        account::AccountView,
        account_transaction::{AccountTransactionsView, TransactionSummary},
    },
};

/// Balance and transaction count
///
/// Any address has an account; one that was never used has nothing.
#[utoipa::path(
    get, path = "/api/v1/accounts/{address}", tag = "Accounts",
    params((
        "address" = String, Path, description = "0x and 40 hexadecimal digits; mixed case must be EIP-55",
        pattern = "^0x[0-9a-fA-F]{40}$", example = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
    )),
    responses((status = 200, description = "The account after the newest block", body = AccountView))
)]
pub(super) async fn get_account(
    State(state): State<Arc<ApiState>>,
    Segment(address): Segment,
) -> Result<Answer, Problem> {
    let address = path::address(&address)?;
    let head = state.head()?;
    Answer::json(&state.account_view(address, &head).await?, Holds::Head(head.hash))
}

/// Transactions of an account, newest first
///
/// Those it sent, received or was created by, each once.
#[utoipa::path(
    get, path = "/api/v1/accounts/{address}/transactions", tag = "Accounts",
    params(
        (
            "address" = String, Path, description = "0x and 40 hexadecimal digits; mixed case must be EIP-55",
            pattern = "^0x[0-9a-fA-F]{40}$", example = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
        ),
        ("limit" = Option<u32>, Query, description = "Transactions on the page", minimum = 1, maximum = 100, example = 25),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before", example = "dDoxMDIzOjA")
    ),
    responses((status = 200, description = "A page of transactions", body = AccountTransactionsView))
)]
pub(super) async fn list_account_transactions(
    State(state): State<Arc<ApiState>>,
    Segment(address): Segment,
    query: Query,
) -> Result<Answer, Problem> {
    let address = path::address(&address)?;
    let parameters = query.parameters(&["limit", "cursor"])?;
    let limit = parameters.limit()?;
    let cursor = parameters.get("cursor").map(TransactionCursor::parse).transpose()?;
    let before = cursor.map(|cursor| (cursor.block, cursor.index));
    // How far the index is, asked first: a page may have more than it says, never less.
    let as_of = state.db.index_head().await?.map(|head| head.number);
    // One more than asked for tells whether there is a next page.
    let mut rows = state.db.list_account_transactions(address, before, limit + 1).await?;
    let has_more = rows.len() > limit as usize;
    rows.truncate(limit as usize);
    let last = rows.last().filter(|_| has_more);
    let view = AccountTransactionsView {
        address: AddressText(address),
        transactions: rows.iter().map(|row| TransactionSummary::new(row, address)).collect(),
        next_cursor: last.map(|row| TransactionCursor { block: row.block_number, index: row.index }.print()),
        as_of_block: as_of.map(Long),
    };
    Answer::json(&view, state.holds_at(as_of))
}
