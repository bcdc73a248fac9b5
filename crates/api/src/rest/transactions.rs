//! `/api/v1/transactions/…`: a transaction with its receipt.

use std::sync::Arc;

use axum::extract::State;
use chain::FoundTransaction;

use super::segment::Segment;
use crate::{
    code::Code,
    edge::answer::{Answer, Holds},
    extract::path,
    problem::Problem,
    state::ApiState,
    view::transaction::TransactionView,
};

/// A transaction and its receipt
///
/// A waiting transaction has status `pending` and null where only a block can tell. A mined one never changes.
#[utoipa::path(
    get, path = "/api/v1/transactions/{hash}", tag = "Transactions",
    params((
        "hash" = String, Path, description = "0x and 64 hexadecimal digits", pattern = "^0x[0-9a-fA-F]{64}$",
        example = "0x9f8e7d6c5b4a39281706f5e4d3c2b1a09f8e7d6c5b4a39281706f5e4d3c2b1a0"
    )),
    responses((status = 200, description = "The transaction", body = TransactionView))
)]
pub(super) async fn get_transaction(
    State(state): State<Arc<ApiState>>,
    Segment(hash): Segment,
) -> Result<Answer, Problem> {
    let hash = path::hash(&hash)?;
    let unknown = || Problem::new(Code::TransactionNotFound, Code::TransactionNotFound.meaning());
    match state.chain.transaction(hash).await?.ok_or_else(unknown)? {
        FoundTransaction::Mined { block, index } => {
            let receipts = state.chain.receipts(&block).await?;
            let view = TransactionView::mined(&block, &receipts, index).ok_or_else(unknown)?;
            Answer::json(&view, Holds::Final)
        }
        FoundTransaction::Pending(tx) => {
            Answer::json(&TransactionView::pending(&tx), Holds::Head(state.head()?.hash))
        }
    }
}
