//! What a webhook tells.

use std::{fmt, str::FromStr};

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EventType {
    /// A payment succeeded.
    PaymentCompleted,
    /// An invoice is paid.
    InvoicePaid,
    /// Somebody tries the webhook out.
    WebhookTest,
}

/// The text names no event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown event `{0}`")]
pub struct UnknownEventType(String);

impl EventType {
    /// Version of the bodies: a member may be added without a new one, never renamed or taken away.
    pub const API_VERSION: &'static str = "2026-01-01";

    /// Its name, in the body and in `X-Platform-Event`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::PaymentCompleted => "payment.completed",
            Self::InvoicePaid => "invoice.paid",
            Self::WebhookTest => "webhook.test",
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for EventType {
    type Err = UnknownEventType;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let all = [Self::PaymentCompleted, Self::InvoicePaid, Self::WebhookTest];
        all.into_iter().find(|known| known.name() == text).ok_or_else(|| UnknownEventType(text.to_owned()))
    }
}
