//! `GET /health` and `GET /ready`: for the operator's probes, and for pages that want to say that the faucet is empty. Never
//! limited.

use std::sync::Arc;

use axum::{Extension, extract::State, response::Response};

use super::{
    Desk,
    view::{FaucetHealthView, FaucetReadinessView, FundsView},
};
use crate::{
    edge::{
        Draining,
        answer::{Answer, Holds},
    },
    problem::Problem,
    rest::health::{present, readiness},
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

/// Whether claims can be taken
///
/// 503 while no node or no database answers, while the database cannot be written, and from the moment that the process is told to end, while it still serves. A faucet
/// that is empty is ready.
#[utoipa::path(
    get, path = "/ready", tag = "Operation",
    responses(
        (status = 200, description = "They can", body = FaucetReadinessView),
        (status = 503, description = "They cannot, or the process is about to end", body = FaucetReadinessView)
    )
)]
pub(super) async fn get_readiness(
    State(desk): State<Arc<Desk>>,
    draining: Option<Extension<Draining>>,
) -> Result<Response, Problem> {
    let health = desk.state.faucet.health(desk.now_millis()).await;
    let is_writable = desk.state.faucet.is_writable(desk.now_millis()).await;
    let (chain, database) = (health.balance.is_some(), health.open_claims.is_some() && is_writable);
    let status = readiness(chain && database, draining.is_some());
    present(status, &FaucetReadinessView { status, chain, database })
}
