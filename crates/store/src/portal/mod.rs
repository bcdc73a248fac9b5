//! The developer and merchant portal: wallets and everything that belongs to them.

mod audit;
mod challenge;
mod claim;
mod convert;
mod credit;
mod cursor;
mod delivery;
mod event;
mod idempotency;
mod invoice;
mod key;
mod order;
mod payment;
mod queue;
mod rate;
mod reconcile;
mod report;
mod revenue;
#[cfg(any(test, feature = "testing"))]
pub(crate) mod seed;
mod session;
mod wallet;
mod webhook;

pub use audit::AuditRow;
pub use challenge::{ChallengeRow, ConsumedChallenge};
pub use claim::{KeyClaim, KeyOrdering};
pub use credit::{
    ChainPayment, CreditBatch, CreditOutcome, Credits, Ledger, NewDelivery, PaidInvoice, PaidOrder,
    PaymentTarget, QuotedInvoice,
};
pub use cursor::{CreditPoint, IndexPoint};
pub use delivery::{DeliveryRow, Redelivery};
pub use event::EventRow;
pub use idempotency::{KeptAnswer, Once, OnceRequest, Repeat};
pub use invoice::{
    InvoiceCreation, InvoiceFilter, InvoicePaymentRow, InvoiceRecord, InvoiceRow, InvoiceVoid, NewQuote,
    QuoteIssue, QuoteRow,
};
pub use key::{DeveloperKeyRow, KeyRevocation};
pub use order::{OrderCancellation, OrderRow, Purchase};
pub use payment::PaymentRow;
pub use queue::{ClaimedDelivery, Lease, Portion, TakenEndpoint};
pub use rate::RateRow;
pub use report::{
    AfterAttempt, AttemptRow, Disabling, EndpointHealth, EndpointReply, EndpointReport, FinishedAttempt,
};
pub use revenue::RevenueRow;
pub use session::SessionRow;
pub use wallet::WalletRow;
pub use webhook::{SealedSecrets, SecretChange, WebhookRow};
