//! `/api/v1/validators…`: the validators, their ranking, the program and its expansion.

use std::sync::Arc;

use axum::extract::State;
use validators::{detail::read_detail, expansion::ExpansionView as Expansion};

use super::segment::Segment;
use crate::{
    edge::answer::{Answer, Holds},
    extract::path,
    problem::Problem,
    state::ApiState,
    view::{
        program::{ExpansionView, ProgramView},
        ranking::RankingView,
        validator::ValidatorsView,
        validator_detail::ValidatorDetailView,
    },
};

/// List of validators
///
/// Everybody who ever registered, jailed and former validators included, and nodes that were voted in without the
/// registry.
#[utoipa::path(
    get, path = "/api/v1/validators", tag = "Validators",
    responses((status = 200, description = "The validators", body = ValidatorsView))
)]
pub(super) async fn list_validators(State(state): State<Arc<ApiState>>) -> Result<Answer, Problem> {
    let board = state.board()?;
    Answer::json(&ValidatorsView::from(&*board), state.holds_board(&board))
}

/// Validator ranking
///
/// Best first, with the weights, the windows and the numbers behind every score, so that anybody can compute it again.
#[utoipa::path(
    get, path = "/api/v1/validators/ranking", tag = "Validators",
    responses((status = 200, description = "The ranking", body = RankingView))
)]
pub(super) async fn get_ranking(State(state): State<Arc<ApiState>>) -> Result<Answer, Problem> {
    let board = state.board()?;
    Answer::json(&RankingView::from(board.ranking()), state.holds_board(&board))
}

/// Program configuration
///
/// The constants of the validator program: stake, commission, hardware, slashing, phases, regions, onboarding.
#[utoipa::path(
    get, path = "/api/v1/validators/program", tag = "Validators",
    responses((status = 200, description = "The constants", body = ProgramView))
)]
pub(super) async fn get_program() -> Result<Answer, Problem> {
    Answer::json(&ProgramView::new(), Holds::Process)
}

/// On-chain expansion status plus configuration
#[utoipa::path(
    get, path = "/api/v1/validators/expansion", tag = "Validators",
    responses((status = 200, description = "Where the expansion stands", body = ExpansionView))
)]
pub(super) async fn get_expansion(State(state): State<Arc<ApiState>>) -> Result<Answer, Problem> {
    let board = state.board()?;
    Answer::json(&ExpansionView::from(&Expansion::of(&board)), state.holds_board(&board))
}

/// Validator detail
///
/// The list's record, with rewards, history, recent turns, evidence and votes. The address may be the operator's or the
/// node's.
#[utoipa::path(
    get, path = "/api/v1/validators/{address}", tag = "Validators",
    params((
        "address" = String, Path, description = "The operator's or the node's address",
        pattern = "^0x[0-9a-fA-F]{40}$", example = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266"
    )),
    responses((status = 200, description = "The validator", body = ValidatorDetailView))
)]
pub(super) async fn get_validator(
    State(state): State<Arc<ApiState>>,
    Segment(address): Segment,
) -> Result<Answer, Problem> {
    let address = path::address(&address)?;
    let board = state.board()?;
    let detail = read_detail(&state.db, &board, address).await?;
    Answer::json(&ValidatorDetailView::from(&detail), state.holds_board(&board))
}
