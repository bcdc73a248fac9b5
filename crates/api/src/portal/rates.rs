//! `GET /rates/current`: what the coin costs. For everybody.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use hyper::StatusCode;
use merchant::QuoteError;

use super::{
    answer::json,
    view::rate::{CurrentRateView, RateView},
};
use crate::{code::Code, describe::Refusals, problem::Problem, state::ApiState};

/// What the coin costs
///
/// Set by the operator. Quotes that were given keep the rate that they were made with.
#[utoipa::path(
    get, path = "/api/v1/platform-dev/rates/current", tag = "Portal payment",
    responses((status = 200, description = "The rate", body = CurrentRateView))
)]
pub(super) async fn get_current_rate(State(state): State<Arc<ApiState>>) -> Result<Response, Problem> {
    let row = state.portal()?.rates.current().await?.ok_or(QuoteError::RateMissing)?;
    json(StatusCode::OK, &CurrentRateView { rate: RateView::from(&row) })
}

/// Refusals of what the coin costs.
pub(crate) const REFUSALS: &[Refusals] =
    &[("get_current_rate", &[Code::DatabaseUnavailable, Code::RateUnavailable])];
