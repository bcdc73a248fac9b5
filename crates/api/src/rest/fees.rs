//! `/api/v1/fees/burns`: the burn policy and what it came to, from the index.

use std::sync::Arc;

use axum::extract::State;

use crate::{
    edge::answer::Answer, extract::query::Query, problem::Problem, state::ApiState, view::fees::BurnsView,
};

/// Days of the history.
const HISTORY_DAYS: u32 = 366;

/// Burn policy and totals per source
///
/// 30% of every platform fee is burned, 70% is held for operations. Counted from the payments on chain.
#[utoipa::path(
    get, path = "/api/v1/fees/burns", tag = "Fees",
    params(("interval" = Option<String>, Query, description = "`day` adds a history", pattern = "^day$")),
    responses((status = 200, description = "The policy and the sums", body = BurnsView))
)]
pub(super) async fn get_burns(State(state): State<Arc<ApiState>>, query: Query) -> Result<Answer, Problem> {
    let with_history = query.parameters(&["interval"])?.is("interval", "day")?;
    let totals = state.db.fee_totals().await?;
    let history = match with_history {
        true => Some(state.db.fee_history_by_day(HISTORY_DAYS).await?),
        false => None,
    };
    let view = BurnsView::new(&totals, history.as_deref());
    Answer::json(&view, state.holds_at(totals.as_of_block))
}
