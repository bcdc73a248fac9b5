//! `/health` and `/ready`: for the operator's probes. Never limited, never kept.

use std::sync::Arc;

use axum::{Extension, extract::State, response::IntoResponse};
use hyper::StatusCode;
use serde::Serialize;
use utoipa::ToSchema;

use crate::{
    edge::{
        Draining,
        answer::{Answer, Holds},
    },
    problem::Problem,
    state::ApiState,
    view::Long,
};

/// A chain with blocks every 2 seconds whose head is older than this stands still.
const OLDEST_HEAD_SECONDS: u64 = 30;
/// An index that is further behind is catching up.
const LARGEST_LAG_BLOCKS: u64 = 30;

/// What is said when everything is well.
const READY: &str = "ready";

/// Whether the process lives
#[utoipa::path(
    get, path = "/health", tag = "Operation",
    responses((status = 200, description = "It does", body = HealthView))
)]
pub(super) async fn get_health(State(state): State<Arc<ApiState>>) -> Result<Answer, Problem> {
    let uptime = state.clock.now().as_second() - state.started_at.as_second();
    let view = HealthView {
        status: "ok",
        version: state.version,
        network: state.deployment.network.name(),
        uptime_seconds: Long(u64::try_from(uptime).unwrap_or(0)),
    };
    Answer::json(&view, Holds::Never)
}

/// Whether requests can be served
///
/// 503 while a check fails: the body says which; and from the moment that the process is told to end, while it still serves, so
/// that whoever spreads traffic turns away.
#[utoipa::path(
    get, path = "/ready", tag = "Operation",
    responses(
        (status = 200, description = "Every check passes", body = ReadinessView),
        (status = 503, description = "A check fails, or the process is about to end", body = ReadinessView)
    )
)]
pub(super) async fn get_readiness(
    State(state): State<Arc<ApiState>>,
    draining: Option<Extension<Draining>>,
) -> Result<axum::response::Response, Problem> {
    let chain = check_chain(&state);
    let (answers, index) = check_index(&state, chain.block_number).await;
    let is_writable = answers && state.db.is_writable(state.now_millis()).await;
    let database = DatabaseCheck { ok: is_writable, is_writable };
    let status = readiness(chain.ok && database.ok && index.ok, draining.is_some());
    let view = ReadinessView { status, checks: ReadinessChecks { chain, database, index } };
    present(status, &view)
}

/// The word for it.
pub(crate) const fn readiness(is_well: bool, is_draining: bool) -> &'static str {
    match (is_draining, is_well) {
        (true, _) => "draining",
        (false, true) => READY,
        (false, false) => "not_ready",
    }
}

/// 200 for what is ready.
pub(crate) fn present(status: &str, view: &impl Serialize) -> Result<axum::response::Response, Problem> {
    if status == READY {
        return Ok(Answer::json(view, Holds::Never)?.into_response());
    }
    Ok((StatusCode::SERVICE_UNAVAILABLE, axum::Json(view)).into_response())
}

fn check_chain(state: &ApiState) -> ChainCheck {
    let head = state.chain.heads().borrow().clone();
    let now = u64::try_from(state.clock.now().as_second()).unwrap_or(0);
    let age = head.as_ref().map(|head| now.saturating_sub(head.header.timestamp));
    ChainCheck {
        ok: state.chain.is_reachable() && age.is_some_and(|age| age <= OLDEST_HEAD_SECONDS),
        block_number: head.map(|head| Long(head.number())),
        head_age_seconds: age.map(Long),
    }
}

/// Whether the database answers, and how far the index in it is.
async fn check_index(state: &ApiState, head: Option<Long>) -> (bool, IndexCheck) {
    let Ok(indexed) = state.db.index_head().await else {
        let index = IndexCheck { ok: false, block_number: None, lag_blocks: None };
        return (false, index);
    };
    let number = indexed.map(|indexed| indexed.number);
    let lag = head.zip(number).map(|(Long(head), number)| head.saturating_sub(number));
    let index = IndexCheck {
        ok: lag.is_some_and(|lag| lag <= LARGEST_LAG_BLOCKS),
        block_number: number.map(Long),
        lag_blocks: lag.map(Long),
    };
    (true, index)
}

/// The process lives.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct HealthView {
    /// Always `ok`.
    #[schema(example = "ok", pattern = "^ok$")]
    status: &'static str,
    /// The product's version.
    #[schema(example = "0.1.0")]
    version: &'static str,
    /// The network that is served.
    #[schema(example = "devnet")]
    network: &'static str,
    /// Seconds since the process started.
    uptime_seconds: Long,
}

/// Whether requests can be served.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReadinessView {
    /// `ready` when every check passes, `draining` when the process is about to end.
    #[schema(example = "ready", pattern = "^(ready|not_ready|draining)$")]
    status: &'static str,
    /// Each check.
    checks: ReadinessChecks,
}

/// What requests need.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ReadinessChecks {
    /// A node that answers and a head that moves.
    chain: ChainCheck,
    /// A database that answers and can be written.
    database: DatabaseCheck,
    /// An index that keeps up with the chain.
    index: IndexCheck,
}

/// The chain's head.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct ChainCheck {
    /// Whether the check passes.
    ok: bool,
    /// The head's height; null while no node has answered.
    block_number: Option<Long>,
    /// The head's age.
    head_age_seconds: Option<Long>,
}

/// The database.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct DatabaseCheck {
    /// Whether the check passes.
    ok: bool,
    /// Whether it can be written: false when it does not answer, its disk is full or has become read-only.
    is_writable: bool,
}

/// The index.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct IndexCheck {
    /// Whether the check passes.
    ok: bool,
    /// The last block of the index; null while it is empty.
    block_number: Option<Long>,
    /// Blocks that it is behind.
    lag_blocks: Option<Long>,
}
