//! `GET /summary/{address}`: everything about a wallet, for its session.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use hyper::StatusCode;

use super::{
    answer::json,
    dashboard::{MOST_KEYS, dashboard},
    guard::SessionWallet,
    view::{
        key::DeveloperKeyView, order::OrderView, payment::PaymentView, summary::SummaryView,
        webhook::WebhookView,
    },
};
use crate::{
    code::Code, describe::Refusals, extract::path, problem::Problem, rest::segment::Segment, state::ApiState,
};

/// Orders and payments that are shown.
const MOST: u32 = 20;

/// Everything about a wallet
///
/// Its dashboard, developer keys, webhook, last orders and last payments. A wallet sees its own.
#[utoipa::path(
    get, path = "/api/v1/platform-dev/summary/{address}", tag = "Portal summary",
    params(("address" = String, Path, description = "The wallet that is signed in", pattern = "^0x[0-9a-fA-F]{40}$", example = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")),
    responses((status = 200, description = "The summary", body = SummaryView))
)]
pub(super) async fn get_summary(
    State(state): State<Arc<ApiState>>,
    session: SessionWallet,
    Segment(address): Segment,
) -> Result<Response, Problem> {
    let wallet = session.address();
    if path::address(&address)? != wallet {
        return Err(Problem::new(Code::WalletMismatch, Code::WalletMismatch.meaning()));
    }
    let keys = state.db.list_developer_keys(wallet, MOST_KEYS).await?;
    let webhook = state.db.find_webhook(wallet).await?;
    let (orders, _) = state.portal()?.orders.list(wallet, None, MOST).await?;
    let payments = state.db.list_payments(wallet, None, MOST).await?;
    let now = state.now_millis();
    let view = SummaryView {
        dashboard: dashboard(&state, wallet, &keys, webhook.clone()).await?,
        keys: keys.into_iter().map(|key| DeveloperKeyView::new(key, now)).collect(),
        webhook: webhook.map(|row| WebhookView::new(row, now)),
        orders: orders.into_iter().map(OrderView::from).collect(),
        payments: payments.into_iter().map(PaymentView::from).collect(),
    };
    json(StatusCode::OK, &view)
}

/// Refusals of a summary.
pub(crate) const REFUSALS: &[Refusals] = &[(
    "get_summary",
    &[
        Code::InvalidAddress,
        Code::SessionMissing,
        Code::SessionInvalid,
        Code::SessionExpired,
        Code::WalletMismatch,
        Code::DatabaseUnavailable,
    ],
)];
