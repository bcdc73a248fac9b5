//! Deliveries and events as their owner sees them.

use serde::Serialize;
use serde_json::value::RawValue;
use store::portal::{AttemptRow, DeliveryRow, EventRow};
use utoipa::ToSchema;

use crate::view::{Long, TimeText};

/// The delivery of an event.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryView {
    /// Its id: `X-Platform-Delivery`.
    #[schema(pattern = "^dlv_[0-9a-hjkmnp-tv-z]{26}$", example = "dlv_01kdvh3c0g5t8v9w2x4y6z8a1b")]
    id: String,
    /// The event: `X-Platform-Event-Id`.
    #[schema(pattern = "^evt_[0-9a-hjkmnp-tv-z]{26}$", example = "evt_01kdvh3c0g5t8v9w2x4y6z8a1b")]
    event_id: String,
    /// What happened.
    #[schema(example = "invoice.paid")]
    event_type: &'static str,
    /// Where it stands. `exhausted` was tried as often as it is, and can be sent again by hand.
    #[schema(pattern = "^(pending|delivered|exhausted)$", example = "delivered")]
    state: &'static str,
    /// How often it was tried.
    attempt_count: Long,
    /// When it is tried again, at the earliest.
    next_attempt_at: Option<TimeText>,
    /// The last answer's status.
    #[schema(example = 204)]
    last_status: Option<u16>,
    /// Why the last attempt failed.
    #[schema(example = json!(null))]
    last_error: Option<String>,
    /// When it was added.
    created_at: TimeText,
    /// When it was delivered or given up.
    finished_at: Option<TimeText>,
}

impl From<DeliveryRow> for DeliveryView {
    fn from(row: DeliveryRow) -> Self {
        let DeliveryRow {
            id,
            event_id,
            kind,
            wallet: _,
            state,
            attempts,
            due_at,
            last_status,
            last_error,
            created_at,
            finished_at,
        } = row;
        Self {
            id: id.to_string(),
            event_id: event_id.to_string(),
            event_type: kind.name(),
            state: state.name(),
            attempt_count: Long(attempts),
            next_attempt_at: finished_at.is_none().then(|| TimeText::from_millis(due_at)),
            last_status,
            last_error,
            created_at: TimeText::from_millis(created_at),
            finished_at: finished_at.map(TimeText::from_millis),
        }
    }
}

/// One attempt of a delivery.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct AttemptView {
    /// Which one: `X-Platform-Attempt`.
    attempt: Long,
    /// When it began.
    started_at: TimeText,
    /// How long it took.
    latency_ms: Long,
    /// The answer's status.
    #[schema(example = 204)]
    status: Option<u16>,
    /// Why it failed.
    #[schema(example = json!(null))]
    error: Option<String>,
    /// The first 2 KiB of the answer, as text.
    #[schema(example = "")]
    response: Option<String>,
}

impl From<AttemptRow> for AttemptView {
    fn from(row: AttemptRow) -> Self {
        let AttemptRow { attempt, started_at, duration_ms, status, error, response } = row;
        Self {
            attempt: Long(attempt),
            started_at: TimeText::from_millis(started_at),
            latency_ms: Long(duration_ms),
            status,
            error,
            response,
        }
    }
}

/// A delivery with its attempts.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeliveryDetailView {
    /// The delivery.
    pub(crate) delivery: DeliveryView,
    /// Its attempts, the first one first.
    pub(crate) attempts: Vec<AttemptView>,
}

/// A delivery by itself.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DeliveryAnswerView {
    /// The delivery.
    pub(crate) delivery: DeliveryView,
}

/// A page of deliveries.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryListView {
    /// The deliveries, newest first.
    pub(crate) deliveries: Vec<DeliveryView>,
    /// What to ask for the next page with; null on the last.
    pub(crate) next_cursor: Option<String>,
}

/// A page of events.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventListView {
    /// The events as they are sent, newest first.
    #[schema(value_type = Vec<Object>)]
    pub(crate) events: Vec<Box<RawValue>>,
    /// What to ask for the next page with; null on the last.
    pub(crate) next_cursor: Option<String>,
}

/// An event's body, which is JSON, as it stands.
pub(crate) fn event(row: EventRow) -> Option<Box<RawValue>> {
    String::from_utf8(row.body).ok().and_then(|body| RawValue::from_string(body).ok())
}
