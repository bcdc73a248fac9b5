//! What is bought and sold through the portal: orders, invoices, quotes, and the payments that settle them.
//!
//! [`Orders`] sells developer keys and the right to a webhook: an order is opened, paid on the chain, and claimed.
//! [`Invoices`] are what merchants ask for, in rupiah; [`Checkout`] tells whoever pays one what it costs in coin, at the
//! operator's rate ([`Rates`]). [`Crediting`] follows the index and applies every payment exactly once, in one transaction
//! for some blocks: payments, what they settle, the events that tell of it, and the cursor. Nothing else changes what is
//! paid. [`Reconciler`] compares the outcome with the chain.
//!
//! HTTP is for the floors above; delivering events is for `webhooks`.

mod cause;
mod credit;
mod dashboard;
mod event;
mod idempotency;
mod invoice;
mod kept_answers;
mod order;
mod payment_request;
mod quote;
mod rate;
mod reconcile;
mod time;

pub use credit::{CreditHalt, CreditProgress, CreditSettings, CreditStatus, Credited, Crediting};
pub use dashboard::{Dashboard, Dashboards};
pub use idempotency::{IdempotencyKey, InvalidIdempotencyKey};
pub use invoice::{Done, InvoiceError, Invoices, NewInvoice, VoidedBy};
pub use kept_answers::KeptAnswers;
pub use order::{ClaimedKey, KeyTerms, Order, OrderError, OrderSettings, Orders, PaymentHint, WebhookFee};
pub use payment_request::PaymentRequest;
pub use quote::{Checkout, CheckoutPlace, QuoteError, payment_link};
pub use rate::{NewRate, RateSetError, Rates};
pub use reconcile::{Difference, FeeTotals, ReconcileError, Reconciler, Reconciliation};
