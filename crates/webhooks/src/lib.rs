//! Telling merchants: endpoints, signed deliveries, and the guard before foreign addresses.
//!
//! [`Webhooks`] is what a wallet does with its webhook: save a URL, rotate the secret, test, look at deliveries. [`Worker`]
//! delivers: every event in the same bytes for ever, at least once, for three days if need be. Whom it may connect to is for
//! the [`Guard`].
//!
//! What events say is for the crates that make them; HTTP is for the floors above.

mod bell;
mod error;
mod guard;
mod limit;
mod metrics;
mod schedule;
mod secret;
mod sender;
mod service;
mod settings;
mod signature;
mod test;
mod worker;

pub use bell::ring_on_change;
pub use error::WebhookError;
pub use guard::{Guard, GuardSettings, Resolve, SystemResolver, UrlRefusal};
pub use metrics::WebhookMetrics;
pub use schedule::{DISABLED_AFTER, LONGEST_RETRY_AFTER, MOST_ATTEMPTS, PROBED_AFTER};
pub use secret::{NoSealingKey, SealError, SealingKeys, Secrets, UnsealError, WebhookSecret};
pub use sender::{Answer, Message, SendError, Sender, SenderLimits, headers};
pub use service::{RotatedSecret, SavedWebhook, Webhooks};
pub use settings::{RETENTION, WorkerSettings};
pub use signature::{platform_signature, standard_signature};
pub use test::TestReport;
pub use worker::{Worker, WorkerParts};
