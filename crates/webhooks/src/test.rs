//! `webhook.test`: sent at once, once, and shown to the webhook's owner in full.

use alloy_primitives::Address;
use bytes::Bytes;
use domain::portal::{DeliveryId, DeliveryState, EventId, EventType};
use jiff::Timestamp;
use serde::Serialize;
use store::portal::AttemptRow;
use tokio::time::Instant;

use crate::{
    error::WebhookError,
    sender::{Answer, Message, headers},
    service::{Shared, Webhooks},
    settings::millis,
    worker::{describe, unix_millis},
};

/// A test, as it was sent and answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestReport {
    /// The event.
    pub event_id: EventId,
    /// The delivery, as it is in the list.
    pub delivery_id: DeliveryId,
    /// Where to.
    pub url: String,
    /// What was sent before the body, in the order of names.
    pub headers: Vec<(String, String)>,
    /// What was sent.
    pub body: String,
    /// When, in Unix seconds: what `webhook-signature` was made with.
    pub unix_seconds: i64,
    /// What came back, or why nothing did.
    pub answer: Result<Answer, String>,
    /// How long that took.
    pub latency_ms: u64,
}

/// The body of the event.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TestEvent<'a> {
    id: String,
    r#type: &'a str,
    api_version: &'a str,
    created_at: String,
    sequence: u64,
    data: TestData,
}

#[derive(Serialize)]
struct TestData {
    message: &'static str,
}

impl Webhooks {
    /// Sends a `webhook.test` and waits for what comes back. It is not tried again, and an endpoint that is disabled stays so.
    pub async fn test(&self, wallet: Address) -> Result<TestReport, WebhookError> {
        let Shared { db, keys, clock, sender, tests, .. } = &*self.shared;
        let webhook = self.find(wallet).await?.ok_or(WebhookError::NotConfigured)?;
        let secrets = keys.open_all(wallet, &webhook.secrets)?;
        let at = clock();
        let now = unix_millis(at);
        tests.take(wallet, now).map_err(|retry_after| WebhookError::Limited { retry_after })?;
        let (event_id, delivery_id) = Self::new_ids(now);
        let kind = EventType::WebhookTest;
        let added =
            db.add_event((event_id, kind), wallet, None, now, |sequence| body(event_id, at, sequence));
        let event = added.await?.ok_or(WebhookError::NotConfigured)?;
        let body = Bytes::from(event.body.clone());
        let message = Message { event_id, kind, delivery_id, attempt: 1, body: body.clone() };
        let headers = headers(&message, &secrets, at);
        let shown = headers
            .iter()
            .map(|(name, value)| (name.to_string(), String::from_utf8_lossy(value.as_bytes()).into_owned()));
        let mut shown: Vec<_> = shown.collect();
        shown.sort();
        let started = Instant::now();
        let answer = sender.send(&webhook.url, headers, body, at).await;
        let latency_ms = millis(started.elapsed());
        let answer = answer.map_err(|error| describe(&error));
        let (attempt, state) = row(&answer, now, latency_ms);
        db.add_single_delivery(delivery_id, &event, &attempt, state).await?;
        let body = String::from_utf8_lossy(&event.body).into_owned();
        let unix_seconds = at.as_second();
        Ok(TestReport {
            event_id,
            delivery_id,
            url: webhook.url,
            headers: shown,
            body,
            unix_seconds,
            answer,
            latency_ms,
        })
    }
}

fn row(answer: &Result<Answer, String>, started_at: u64, duration_ms: u64) -> (AttemptRow, DeliveryState) {
    let (status, error, response) = match answer {
        Ok(answer) => {
            let error =
                (!answer.status.is_success()).then(|| format!("the endpoint answered {}", answer.status));
            (Some(answer.status.as_u16()), error, Some(answer.body.clone()))
        }
        Err(error) => (None, Some(error.clone()), None),
    };
    let state = if error.is_none() { DeliveryState::Delivered } else { DeliveryState::Exhausted };
    (AttemptRow { attempt: 1, started_at, duration_ms, status, error, response }, state)
}

fn body(id: EventId, at: Timestamp, sequence: u64) -> Vec<u8> {
    let event = TestEvent {
        id: id.to_string(),
        r#type: EventType::WebhookTest.name(),
        api_version: EventType::API_VERSION,
        created_at: at.to_string(),
        sequence,
        data: TestData { message: "This is a test. Nothing was paid." },
    };
    // Texts and numbers always serialise.
    serde_json::to_vec(&event).unwrap_or_default()
}
