//! `/orders…`: a wallet's orders, for its session. They are opened by `POST /keys` and `POST /webhooks`.

use std::sync::Arc;

use axum::{extract::State, response::Response};
use domain::portal::{OrderId, OrderKind};
use hyper::StatusCode;
use merchant::{Order, OrderError};

use super::{
    answer::json,
    guard::{Origin, SessionWallet},
    view::order::{OrderAnswerView, OrderListView, OrderView},
};
use crate::{
    code::Code,
    describe::Refusals,
    extract::{cursor::OrderCursor, query::Query},
    problem::Problem,
    rest::segment::Segment,
    state::ApiState,
};

/// List orders
///
/// Newest first.
#[utoipa::path(
    get, path = "/api/v1/platform-dev/orders", tag = "Portal orders",
    params(
        ("limit" = Option<u32>, Query, description = "Orders on a page", minimum = 1, maximum = 100, example = 25),
        ("cursor" = Option<String>, Query, description = "`nextCursor` of the page before", example = "bzpvcmRfMDFrZHZoM2MwZzV0OHY5dzJ4NHk2ejhhMWI"),
    ),
    responses((status = 200, description = "The orders", body = OrderListView))
)]
pub(super) async fn list_orders(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
    query: Query,
) -> Result<Response, Problem> {
    let parameters = query.parameters(&["limit", "cursor"])?;
    let cursor = parameters.get("cursor").map(OrderCursor::parse).transpose()?;
    let before = cursor.map(|cursor| cursor.before);
    let orders = &state.portal()?.orders;
    let (found, next) = orders.list(wallet.address(), before, parameters.limit()?).await?;
    let view = OrderListView {
        orders: found.into_iter().map(OrderView::from).collect(),
        next_cursor: next.map(|before| OrderCursor { before }.print()),
    };
    json(StatusCode::OK, &view)
}

/// Look at an order
#[utoipa::path(
    get, path = "/api/v1/platform-dev/orders/{id}", tag = "Portal orders",
    params(("id" = String, Path, description = "The order's id", pattern = "^ord_[0-9a-hjkmnp-tv-z]{26}$", example = "ord_01kdvh3c0g5t8v9w2x4y6z8a1b")),
    responses((status = 200, description = "The order", body = OrderAnswerView))
)]
pub(super) async fn get_order(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
    Segment(id): Segment,
) -> Result<Response, Problem> {
    let order = state.portal()?.orders.get(wallet.address(), read_id(&id)?).await?;
    json(StatusCode::OK, &OrderAnswerView { order: order.into() })
}

/// Cancel an order
///
/// One that awaits its payment; its slot is free at once. Doing it again changes nothing. A payment that is on its way, or comes
/// later, is not lost: it settles the order as one that is late does.
#[utoipa::path(
    post, path = "/api/v1/platform-dev/orders/{id}/cancel", tag = "Portal orders",
    params(("id" = String, Path, description = "The order's id", pattern = "^ord_[0-9a-hjkmnp-tv-z]{26}$", example = "ord_01kdvh3c0g5t8v9w2x4y6z8a1b")),
    responses((status = 200, description = "The order is cancelled", body = OrderAnswerView))
)]
pub(super) async fn cancel_order(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
    Origin(origin): Origin,
    Segment(id): Segment,
) -> Result<Response, Problem> {
    let cancelled = state.portal()?.orders.cancel(wallet.address(), read_id(&id)?, origin).await;
    json(StatusCode::OK, &OrderAnswerView { order: cancelled.map_err(refuse)?.into() })
}

/// What is no id is the id of no order.
pub(super) fn read_id(text: &str) -> Result<OrderId, Problem> {
    text.parse().map_err(|_| OrderError::NotFound.into())
}

/// Something has to be paid first: the order says what, and how.
pub(super) fn payment_required(order: Order) -> Problem {
    let detail = match order.row.purchase.kind() {
        OrderKind::ApiKey => {
            "Send the transaction that order.payment describes, then ask for the key with the order's id as orderId."
        }
        OrderKind::Webhook => {
            "Saving the first webhook URL costs 1 coin. Send the transaction that order.payment describes, then \
             repeat the request."
        }
    };
    with_order(Problem::new(Code::PaymentRequired, detail), order)
}

/// A refusal with the order that it is about.
pub(super) fn refuse(error: OrderError) -> Problem {
    match error {
        OrderError::NotPaid { ref order, .. } | OrderError::NotOpen(ref order) => {
            let order = Order::clone(order);
            with_order(error.into(), order)
        }
        other => other.into(),
    }
}

/// A refusal with an order.
pub(super) fn with_order(problem: Problem, order: Order) -> Problem {
    // A view always serialises.
    problem.with_member("order", serde_json::to_value(OrderView::from(order)).unwrap_or_default())
}

/// Refusals of looking at orders and cancelling them.
pub(crate) const REFUSALS: &[Refusals] = &[
    (
        "list_orders",
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
        "get_order",
        &[
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::OrderNotFound,
            Code::NotFound,
            Code::DatabaseUnavailable,
        ],
    ),
    (
        "cancel_order",
        &[
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::OriginMismatch,
            Code::OrderNotFound,
            Code::NotFound,
            Code::OrderNotOpen,
            Code::DatabaseUnavailable,
        ],
    ),
];
