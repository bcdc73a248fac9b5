//! Webhooks as their owner sees them.

use serde::Serialize;
use store::portal::{SealedSecrets, WebhookRow};
use utoipa::ToSchema;
use webhooks::{Answer, PROBED_AFTER, RotatedSecret, SavedWebhook, TestReport};

use crate::view::{Long, TimeText};

/// A webhook. Its secret is not here.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebhookView {
    /// Where events are sent.
    #[schema(example = "https://shop.example.org/hooks")]
    url: String,
    /// Whether they are.
    #[schema(pattern = "^(active|disabled)$", example = "active")]
    state: &'static str,
    /// Why it was disabled. Saving the URL again enables it, and what waits is sent.
    #[schema(example = json!(null))]
    disabled_reason: Option<String>,
    /// When it was disabled.
    disabled_at: Option<TimeText>,
    /// When a new secret takes over; until then both sign.
    next_secret_active_at: Option<TimeText>,
    /// Since when nothing could be delivered.
    failing_since: Option<TimeText>,
    /// Attempts that failed in a row.
    consecutive_failures: Long,
    /// Whether only one delivery at a time is tried, because so many failed in a row.
    is_probing: bool,
    /// When the next attempt may be, if it is left alone for a while.
    paused_until: Option<TimeText>,
    /// Attempts that succeeded.
    delivered_count: Long,
    /// Attempts that failed.
    failed_count: Long,
    /// When the first URL was saved.
    created_at: TimeText,
    /// When the last URL or secret was saved.
    updated_at: TimeText,
}

impl WebhookView {
    /// A webhook as it is at a time, in Unix milliseconds.
    pub(crate) fn new(row: WebhookRow, now: u64) -> Self {
        let WebhookRow {
            wallet: _,
            url,
            state,
            disabled_reason,
            disabled_at,
            secrets: SealedSecrets { current: _, next },
            failing_since,
            failures,
            delivered_count,
            failed_count,
            paused_until,
            created_at,
            updated_at,
        } = row;
        Self {
            url,
            state: state.name(),
            disabled_reason,
            disabled_at: disabled_at.map(TimeText::from_millis),
            next_secret_active_at: next.map(|(_, at)| at).filter(|at| *at > now).map(TimeText::from_millis),
            failing_since: failing_since.map(TimeText::from_millis),
            consecutive_failures: Long(failures),
            is_probing: failures >= PROBED_AFTER,
            paused_until: Some(paused_until).filter(|until| *until > now).map(TimeText::from_millis),
            delivered_count: Long(delivered_count),
            failed_count: Long(failed_count),
            created_at: TimeText::from_millis(created_at),
            updated_at: TimeText::from_millis(updated_at),
        }
    }
}

/// A webhook by itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct WebhookAnswerView {
    /// The webhook; null if the wallet has none.
    pub(crate) webhook: Option<WebhookView>,
}

/// A webhook that was saved.
#[derive(Serialize, ToSchema)]
pub(crate) struct SavedWebhookView {
    /// The webhook.
    webhook: WebhookView,
    /// Its secret, if it is new. It is shown here and never again; later saves leave it as it is and answer null.
    #[schema(example = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")]
    secret: Option<String>,
}

impl SavedWebhookView {
    pub(crate) fn new(saved: SavedWebhook, now: u64) -> Self {
        let SavedWebhook { webhook, secret } = saved;
        let secret = secret.map(|secret| secret.as_str().to_owned());
        Self { webhook: WebhookView::new(webhook, now), secret }
    }
}

/// A webhook that gets a new secret.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RotatedWebhookView {
    /// The webhook.
    webhook: WebhookView,
    /// The new secret. It is shown here and never again.
    #[schema(example = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD")]
    next_secret: String,
    /// When it takes over. Until then `X-Platform-Signature` is still made with the old one.
    active_at: TimeText,
}

impl RotatedWebhookView {
    pub(crate) fn new(rotated: RotatedSecret, now: u64) -> Self {
        let RotatedSecret { webhook, secret, active_at } = rotated;
        Self {
            webhook: WebhookView::new(webhook, now),
            next_secret: secret.as_str().to_owned(),
            active_at: TimeText(active_at),
        }
    }
}

/// A `webhook.test`, as it was sent and answered.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WebhookTestView {
    /// The event.
    #[schema(pattern = "^evt_[0-9a-hjkmnp-tv-z]{26}$", example = "evt_01kdvh3c0g5t8v9w2x4y6z8a1b")]
    event_id: String,
    /// The delivery, as it is in the list.
    #[schema(pattern = "^dlv_[0-9a-hjkmnp-tv-z]{26}$", example = "dlv_01kdvh3c0g5t8v9w2x4y6z8a1b")]
    delivery_id: String,
    /// Whether the answer counts as a success.
    is_delivered: bool,
    /// What was sent.
    request: TestRequestView,
    /// What the signatures were made over.
    signature_input: SignatureInputView,
    /// What came back; null if nothing did.
    response: Option<TestResponseView>,
    /// Why nothing came back.
    #[schema(example = json!(null))]
    error: Option<String>,
}

/// What was sent.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestRequestView {
    /// Where to.
    #[schema(example = "https://shop.example.org/hooks")]
    url: String,
    /// The headers.
    headers: Vec<TestHeaderView>,
    /// The body, to the byte.
    #[schema(example = "{\"id\":\"evt_01kdvh3c0g5t8v9w2x4y6z8a1b\",\"type\":\"webhook.test\"}")]
    body: String,
}

/// A header.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct TestHeaderView {
    /// Its name.
    #[schema(example = "x-platform-event")]
    name: String,
    /// Its value.
    #[schema(example = "webhook.test")]
    value: String,
}

/// What signatures are made over.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SignatureInputView {
    /// Of `X-Platform-Signature`: the body. The key is the whole text of the secret.
    platform: String,
    /// Of `webhook-signature`: id, time and body. The key is what the secret's base64 stands for.
    standard: String,
}

/// What came back.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TestResponseView {
    /// The status.
    #[schema(example = 204)]
    status: u16,
    /// How long it took.
    latency_ms: Long,
    /// The first 2 KiB, as text.
    #[schema(example = "")]
    body: String,
}

impl From<TestReport> for WebhookTestView {
    fn from(report: TestReport) -> Self {
        let TestReport { event_id, delivery_id, url, headers, body, unix_seconds, answer, latency_ms } =
            report;
        let standard = format!("{event_id}.{unix_seconds}.{body}");
        let headers = headers.into_iter().map(|(name, value)| TestHeaderView { name, value });
        let (response, error) = match answer {
            Ok(Answer { status, body, retry_after: _ }) => {
                let status = status.as_u16();
                (Some(TestResponseView { status, latency_ms: Long(latency_ms), body }), None)
            }
            Err(error) => (None, Some(error)),
        };
        Self {
            event_id: event_id.to_string(),
            delivery_id: delivery_id.to_string(),
            is_delivered: response.as_ref().is_some_and(|response| (200..300).contains(&response.status)),
            signature_input: SignatureInputView { platform: body.clone(), standard },
            request: TestRequestView { url, headers: headers.collect(), body },
            response,
            error,
        }
    }
}
