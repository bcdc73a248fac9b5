//! The developer and merchant portal: wallets and everything that belongs to them.

mod audit;
mod convert;
mod delivery;
mod event;
mod queue;
mod report;
mod wallet;
mod webhook;

pub use audit::AuditRow;
pub use delivery::{DeliveryRow, Redelivery};
pub use event::EventRow;
pub use queue::{ClaimedDelivery, Lease, Portion, TakenEndpoint};
pub use report::{
    AfterAttempt, AttemptRow, Disabling, EndpointHealth, EndpointReply, EndpointReport, FinishedAttempt,
};
pub use wallet::WalletRow;
#[cfg(any(test, feature = "testing"))]
pub(crate) use wallet::touch_wallet;
pub use webhook::{SealedSecrets, SecretChange, WebhookRow};
