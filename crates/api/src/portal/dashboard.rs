//! `GET /v1/dashboard`: what a merchant has done, for programs with a developer key.

use std::sync::Arc;

use alloy_primitives::Address;
use axum::{extract::State, response::Response};
use domain::portal::KeyState;
use hyper::StatusCode;
use store::portal::{DeveloperKeyRow, WebhookRow};

use super::{
    answer::json,
    guard::{DashboardRead, Scoped},
    view::dashboard::{DashboardParts, DashboardView},
};
use crate::{code::Code, describe::Refusals, problem::Problem, state::ApiState};

/// Keys that are looked through for those that are good; at most five are, and those are the newest.
pub(super) const MOST_KEYS: u32 = 100;

/// What the merchant has done
///
/// Counts of invoices, what they brought in all and on each of the last 30 days, developer keys, the webhook and the newest
/// invoices.
#[utoipa::path(
    get, path = "/api/v1/platform-dev/v1/dashboard", tag = "Portal dashboard",
    responses((status = 200, description = "The dashboard", body = DashboardView))
)]
pub(super) async fn get_dashboard(
    State(state): State<Arc<ApiState>>,
    key: Scoped<DashboardRead>,
) -> Result<Response, Problem> {
    let wallet = key.grant.wallet;
    let keys = state.db.list_developer_keys(wallet, MOST_KEYS).await?;
    let webhook = state.db.find_webhook(wallet).await?;
    json(StatusCode::OK, &dashboard(&state, wallet, &keys, webhook).await?)
}

/// The dashboard of a wallet that has these keys and this webhook.
pub(super) async fn dashboard(
    state: &ApiState,
    wallet: Address,
    keys: &[DeveloperKeyRow],
    webhook: Option<WebhookRow>,
) -> Result<DashboardView, Problem> {
    let portal = state.portal()?;
    let now = state.now_millis();
    let is_active = |key: &&DeveloperKeyRow| key.state_at(now) == KeyState::Active;
    let parts = DashboardParts {
        wallet,
        dashboard: portal.dashboards.get(wallet).await?,
        active_keys: keys.iter().filter(is_active).count() as u64,
        webhook,
    };
    Ok(DashboardView::new(&portal.checkout, parts))
}

/// Refusals of the dashboard.
pub(crate) const REFUSALS: &[Refusals] = &[(
    "get_dashboard",
    &[
        Code::ApiKeyAmbiguous,
        Code::ApiKeyMissing,
        Code::ApiKeyInvalid,
        Code::ApiKeyRevoked,
        Code::ApiKeyExpired,
        Code::ScopeMissing,
        Code::DatabaseUnavailable,
    ],
)];
