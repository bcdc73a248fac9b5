//! `/api/v1/accounts/…`: an account, and its transactions.

use std::sync::Arc;

use axum::extract::State;

use super::segment::Segment;
use crate::{
    edge::answer::{Answer, Holds},
    extract::path,
    problem::Problem,
    state::ApiState,
    view::account::AccountView,
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
