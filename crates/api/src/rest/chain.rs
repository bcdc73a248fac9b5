//! `/api/v1/chain`: the chain and its head.

use std::sync::Arc;

use axum::extract::State;

use crate::{
    edge::answer::{Answer, Holds},
    problem::Problem,
    state::ApiState,
    view::chain::ChainView,
};

/// Chain information and block number
///
/// The network, its consensus, the newest block, the present gas price, and how many validators stake how much.
#[utoipa::path(
    get, path = "/api/v1/chain", tag = "Chain",
    responses((status = 200, description = "The chain at its newest block", body = ChainView))
)]
pub(super) async fn get_chain(State(state): State<Arc<ApiState>>) -> Result<Answer, Problem> {
    let head = state.head()?;
    Answer::json(&state.chain_view(&head).await?, Holds::Head(head.hash))
}
