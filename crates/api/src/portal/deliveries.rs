//! `/webhooks/deliveries…` and `/events`: what a wallet was told, and what it could have been. For its session.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use domain::portal::{DeliveryId, DeliveryState};
use hyper::StatusCode;
use webhooks::WebhookError;

use super::{
    answer::json,
    guard::SessionWallet,
    view::delivery::{
        AttemptView, DeliveryAnswerView, DeliveryDetailView, DeliveryListView, DeliveryView, EventListView,
        event,
    },
    webhooks::refuse,
};
use crate::{
    code::Code,
    describe::Refusals,
    extract::{
        cursor::{DeliveryCursor, EventCursor},
        query::Query,
    },
    problem::Problem,
    rest::segment::Segment,
    state::ApiState,
};

/// List deliveries
///
/// Newest first, of the last 30 days.
#[utoipa::path(
    get, path = "/api/v1/platform-dev/webhooks/deliveries", tag = "Portal webhooks",
    params(
        ("state" = Option<String>, Query, description = "Only those in this state", pattern = "^(pending|delivered|exhausted)$", example = "exhausted"),
        ("limit" = Option<u32>, Query, description = "Deliveries on a page", minimum = 1, maximum = 100, example = 25),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before", example = "ZDpkbHZfMDFrZHZoM2MwZzV0OHY5dzJ4NHk2ejhhMWI"),
    ),
    responses((status = 200, description = "The deliveries", body = DeliveryListView))
)]
pub(super) async fn list_deliveries(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
    query: Query,
) -> Result<Response, Problem> {
    let parameters = query.parameters(&["state", "limit", "cursor"])?;
    let only = parameters.get("state").map(read_state).transpose()?;
    let cursor = parameters.get("cursor").map(DeliveryCursor::parse).transpose()?;
    let (before, limit) = (cursor.map(|cursor| cursor.before), parameters.limit()?);
    let found = state.portal()?.webhooks.deliveries(wallet.address(), only, before, limit + 1).await?;
    let (page, next) = page(found, limit);
    let view = DeliveryListView {
        next_cursor: next.map(|last| DeliveryCursor { before: last.id }.print()),
        deliveries: page.into_iter().map(DeliveryView::from).collect(),
    };
    json(StatusCode::OK, &view)
}

/// Look at a delivery
///
/// With every attempt: when, how long, what came back.
#[utoipa::path(
    get, path = "/api/v1/platform-dev/webhooks/deliveries/{id}", tag = "Portal webhooks",
    params(("id" = String, Path, description = "The delivery's id", pattern = "^dlv_[0-9a-hjkmnp-tv-z]{26}$", example = "dlv_01kdvh3c0g5t8v9w2x4y6z8a1b")),
    responses((status = 200, description = "The delivery", body = DeliveryDetailView))
)]
pub(super) async fn get_delivery(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
    Segment(id): Segment,
) -> Result<Response, Problem> {
    let found = state.portal()?.webhooks.delivery(wallet.address(), read_id(&id)?).await;
    let (delivery, attempts) = found.map_err(refuse)?;
    let attempts = attempts.into_iter().map(AttemptView::from).collect();
    json(StatusCode::OK, &DeliveryDetailView { delivery: delivery.into(), attempts })
}

/// Send an event again
///
/// The same bytes under the same event id, as a new delivery with twelve attempts of its own.
#[utoipa::path(
    post, path = "/api/v1/platform-dev/webhooks/deliveries/{id}/redeliver", tag = "Portal webhooks",
    params(("id" = String, Path, description = "The delivery's id", pattern = "^dlv_[0-9a-hjkmnp-tv-z]{26}$", example = "dlv_01kdvh3c0g5t8v9w2x4y6z8a1b")),
    responses((status = 202, description = "The new delivery waits to be made", body = DeliveryAnswerView))
)]
pub(super) async fn redeliver(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
    Segment(id): Segment,
) -> Result<Response, Problem> {
    let queued = state.portal()?.webhooks.redeliver(wallet.address(), read_id(&id)?).await;
    json(StatusCode::ACCEPTED, &DeliveryAnswerView { delivery: queued.map_err(refuse)?.into() })
}

/// List events
///
/// Newest first, of the last 30 days, in the bytes that webhooks send: for who cannot be sent to, or has missed something.
#[utoipa::path(
    get, path = "/api/v1/platform-dev/events", tag = "Portal webhooks",
    params(
        ("limit" = Option<u32>, Query, description = "Events on a page", minimum = 1, maximum = 100, example = 25),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before", example = "ZTo0Mg"),
    ),
    responses((status = 200, description = "The events", body = EventListView))
)]
pub(super) async fn list_events(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
    query: Query,
) -> Result<Response, Problem> {
    let parameters = query.parameters(&["limit", "cursor"])?;
    let cursor = parameters.get("cursor").map(EventCursor::parse).transpose()?;
    let (before, limit) = (cursor.map(|cursor| cursor.before), parameters.limit()?);
    let found = state.portal()?.webhooks.events(wallet.address(), before, limit + 1).await?;
    let (page, next) = page(found, limit);
    let view = EventListView {
        next_cursor: next.map(|last| EventCursor { before: last.sequence }.print()),
        events: page.into_iter().filter_map(event).collect(),
    };
    json(StatusCode::OK, &view)
}

/// Cuts a list that was asked for with one item more than a page has; gives the last item if there are more pages.
fn page<T: Clone>(mut found: Vec<T>, limit: u32) -> (Vec<T>, Option<T>) {
    let is_more = found.len() > limit as usize;
    found.truncate(limit as usize);
    let last = found.last().filter(|_| is_more).cloned();
    (found, last)
}

/// What is no id is the id of no delivery.
fn read_id(text: &str) -> Result<DeliveryId, Problem> {
    text.parse().map_err(|_| WebhookError::DeliveryNotFound.into())
}

fn read_state(text: &str) -> Result<DeliveryState, Problem> {
    let detail = "`state` can be `pending`, `delivered` or `exhausted`.";
    text.parse().map_err(|_| Problem::new(Code::InvalidParameter, detail))
}

/// Refusals of looking at deliveries and events.
pub(crate) const REFUSALS: &[Refusals] = &[
    (
        "list_deliveries",
        &[
            Code::InvalidLimit,
            Code::InvalidCursor,
            Code::InvalidParameter,
            Code::UnknownParameter,
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::NotFound,
            Code::DatabaseUnavailable,
        ],
    ),
    (
        "get_delivery",
        &[
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::DeliveryNotFound,
            Code::NotFound,
            Code::DeliveryPruned,
            Code::DatabaseUnavailable,
        ],
    ),
    (
        "redeliver",
        &[
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::OriginMismatch,
            Code::DeliveryNotFound,
            Code::NotFound,
            Code::WebhookNotConfigured,
            Code::DeliveryPruned,
            Code::DatabaseUnavailable,
        ],
    ),
    (
        "list_events",
        &[
            Code::InvalidLimit,
            Code::InvalidCursor,
            Code::InvalidParameter,
            Code::UnknownParameter,
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::NotFound,
            Code::DatabaseUnavailable,
        ],
    ),
];
