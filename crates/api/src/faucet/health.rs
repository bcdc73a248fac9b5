//! `GET /health`: for the operator's probes, and for pages that want to say that the faucet is empty. Never limited.

use std::sync::Arc;

use axum::extract::State;

use super::{
    Desk,
    view::{FaucetHealthView, FundsView},
};
use crate::{
    edge::answer::{Answer, Holds},
    problem::Problem,
    view::{AddressText, Long},
};

/// Whether the process lives
///
/// And whether the faucet can pay: it is alive also when it is empty.
#[utoipa::path(
    get, path = "/health", tag = "Operation",
    responses((status = 200, description = "It does", body = FaucetHealthView))
)]
pub(super) async fn get_health(State(desk): State<Arc<Desk>>) -> Result<Answer, Problem> {
    let state = &desk.state;
    let uptime = state.clock.now().as_second() - state.started_at.as_second();
    let health = state.faucet.health(desk.now_millis()).await;
    let view = FaucetHealthView {
        status: "ok",
        version: state.version,
        network: state.network.name(),
        uptime_seconds: Long(u64::try_from(uptime).unwrap_or(0)),
        faucet: FundsView::new(AddressText(state.faucet.address()), state.faucet.settings(), &health),
    };
    Answer::json(&view, Holds::Never)
}
