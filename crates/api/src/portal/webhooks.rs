//! `/webhooks…`: where a wallet's events are sent, for its session.
//!
//! The first URL costs a coin: without a paid order the request is answered with 402, and repeated as it was once the order is
//! paid. The secret is in the answer to that and nowhere else.

use std::{sync::Arc, time::Duration};

use alloy_primitives::Address;
use axum::{body::Body, extract::State, response::Response};
use hyper::{HeaderMap, StatusCode};
use merchant::WebhookFee;
use serde_json::Value;
use utoipa::ToSchema;
use webhooks::{SavedWebhook, SenderLimits, WebhookError};

use super::{
    Portal,
    answer::json,
    guard::{Origin, SessionWallet},
    orders::with_order,
    view::webhook::{RotatedWebhookView, SavedWebhookView, WebhookAnswerView, WebhookTestView, WebhookView},
};
use crate::{
    code::Code,
    describe::Refusals,
    edge::answer::made,
    extract::members::{Fault, Members, text},
    problem::Problem,
    state::ApiState,
};

/// Where a webhook is tested.
const TEST_PATH: &str = "/api/v1/platform-dev/webhooks/test";
const DEFAULT_OVERLAP_HOURS: u64 = 24;
const MOST_OVERLAP_HOURS: u64 = 72;

/// Save the webhook URL
///
/// The URL is judged first: https on port 443, to a public DNS name (`webhook_url_blocked` otherwise). The first one costs 1 coin:
/// the request is answered with 402 and an order; send its transaction and repeat the request. Later saves are free and leave the
/// secret as it is. Saving, also the same URL again, enables a webhook that was disabled, and what waits is sent at once.
#[utoipa::path(
    post, path = "/api/v1/platform-dev/webhooks", tag = "Portal webhooks",
    request_body(content = WebhookRequest, content_type = "application/json"),
    responses(
        (status = 200, description = "Another URL was saved", body = SavedWebhookView),
        (status = 201, description = "The first URL was saved; the secret is shown once", body = SavedWebhookView),
    )
)]
pub(super) async fn save_webhook(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
    Origin(origin): Origin,
    headers: HeaderMap,
    request_body: Body,
) -> Result<Response, Problem> {
    let mut members = Members::read(&headers, request_body, &["url"]).await?;
    let url = members.required("url", text);
    members.finish()?;
    let saved = save(state.portal()?, wallet.address(), &url, origin).await?;
    let is_first = saved.secret.is_some();
    let view = SavedWebhookView::new(saved, state.now_millis());
    if is_first { made(&view) } else { json(StatusCode::OK, &view) }
}

async fn save(
    portal: &Portal,
    wallet: Address,
    url: &str,
    origin: Option<String>,
) -> Result<SavedWebhook, Problem> {
    match portal.webhooks.save(wallet, url, origin.clone()).await {
        Err(WebhookError::FeeUnpaid) => {}
        saved => return saved.map_err(refuse),
    }
    match portal.orders.webhook_fee(wallet).await? {
        WebhookFee::Unpaid(order) => Err(with_order(WebhookError::FeeUnpaid.into(), *order)),
        // It was paid in between.
        WebhookFee::Paid(_) => portal.webhooks.save(wallet, url, origin).await.map_err(refuse),
    }
}

/// Look at the webhook
#[utoipa::path(
    get, path = "/api/v1/platform-dev/webhooks", tag = "Portal webhooks",
    responses((status = 200, description = "The webhook, if there is one", body = WebhookAnswerView))
)]
pub(super) async fn get_webhook(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
) -> Result<Response, Problem> {
    let found = state.portal()?.webhooks.find(wallet.address()).await?;
    let webhook = found.map(|row| WebhookView::new(row, state.now_millis()));
    json(StatusCode::OK, &WebhookAnswerView { webhook })
}

/// Change the secret
///
/// For `overlapHours` `X-Platform-Signature` stays with the old secret, `X-Platform-Signature-Next` carries the new one's signature
/// and `webhook-signature` both; then the new one takes over. Asking again during that time replaces the new one.
#[utoipa::path(
    post, path = "/api/v1/platform-dev/webhooks/rotate", tag = "Portal webhooks",
    request_body(content = RotateRequest, content_type = "application/json"),
    responses((status = 200, description = "The new secret, shown once", body = RotatedWebhookView))
)]
pub(super) async fn rotate_webhook(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
    Origin(origin): Origin,
    headers: HeaderMap,
    request_body: Body,
) -> Result<Response, Problem> {
    let mut members = Members::read(&headers, request_body, &["overlapHours"]).await?;
    let hours = members.optional("overlapHours", overlap);
    members.finish()?;
    let overlap = Duration::from_secs(hours.unwrap_or(DEFAULT_OVERLAP_HOURS) * 3_600);
    let rotated = state.portal()?.webhooks.rotate(wallet.address(), overlap, origin).await.map_err(refuse)?;
    json(StatusCode::OK, &RotatedWebhookView::new(rotated, state.now_millis()))
}

/// Test the webhook
///
/// Sends a `webhook.test` at once, waits for the answer (15 seconds at most), and shows both. It is not tried again; it is in the
/// lists of events and deliveries. 10 in a minute.
#[utoipa::path(
    post, path = "/api/v1/platform-dev/webhooks/test", tag = "Portal webhooks",
    responses((status = 200, description = "What was sent, and what came back", body = WebhookTestView))
)]
pub(super) async fn test_webhook(
    State(state): State<Arc<ApiState>>,
    wallet: SessionWallet,
) -> Result<Response, Problem> {
    let report = state.portal()?.webhooks.test(wallet.address()).await.map_err(refuse)?;
    json(StatusCode::OK, &WebhookTestView::from(report))
}

/// How much longer than others a request at this path may take, because it waits for a receiver, who was promised the time.
pub(crate) fn promised_wait(path: &str) -> Duration {
    if path == TEST_PATH { SenderLimits::default().attempt } else { Duration::ZERO }
}

/// A refusal with what helps beside its sentence.
pub(super) fn refuse(error: WebhookError) -> Problem {
    match error {
        WebhookError::UrlBlocked(refusal) => Problem::from(error).with_member("reason", refusal.word()),
        WebhookError::Limited { retry_after } => Problem::from(error).with_retry_after(retry_after),
        WebhookError::FeeUnpaid
        | WebhookError::NotConfigured
        | WebhookError::DeliveryNotFound
        | WebhookError::DeliveryPruned
        | WebhookError::Seal(_)
        | WebhookError::Unseal(_)
        | WebhookError::Store(_) => error.into(),
    }
}

fn overlap(value: Value) -> Result<u64, Fault> {
    let hours = value.as_u64().filter(|hours| *hours <= MOST_OVERLAP_HOURS);
    hours.ok_or(("out_of_range", "must be a whole number of hours from 0 to 72"))
}

/// Where to send events.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "described here, read member by member")]
pub(super) struct WebhookRequest {
    /// An https URL on port 443, to a public DNS name.
    #[schema(max_length = 2048, example = "https://shop.example.org/hooks")]
    url: String,
}

/// How long both secrets sign.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "described here, read member by member")]
pub(super) struct RotateRequest {
    /// Hours until the new secret takes over; 24 if left out.
    #[schema(minimum = 0, maximum = 72, example = 24)]
    overlap_hours: Option<u32>,
}

/// Refusals of what is done with a webhook.
pub(crate) const REFUSALS: &[Refusals] = &[
    (
        "save_webhook",
        &[
            Code::InvalidJson,
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::PaymentRequired,
            Code::OriginMismatch,
            Code::NotFound,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::ValidationFailed,
            Code::UnknownField,
            Code::WebhookUrlBlocked,
            Code::DatabaseUnavailable,
        ],
    ),
    (
        "get_webhook",
        &[
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::NotFound,
            Code::DatabaseUnavailable,
        ],
    ),
    (
        "rotate_webhook",
        &[
            Code::InvalidJson,
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::OriginMismatch,
            Code::NotFound,
            Code::WebhookNotConfigured,
            Code::BodyTooLarge,
            Code::UnsupportedMediaType,
            Code::ValidationFailed,
            Code::UnknownField,
            Code::DatabaseUnavailable,
        ],
    ),
    (
        "test_webhook",
        &[
            Code::SessionMissing,
            Code::SessionInvalid,
            Code::SessionExpired,
            Code::OriginMismatch,
            Code::NotFound,
            Code::WebhookNotConfigured,
            Code::DatabaseUnavailable,
        ],
    ),
];
