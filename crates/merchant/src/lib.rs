//! What is bought and sold through the portal: orders, invoices, quotes, and the payments that settle them.

mod dashboard;
mod idempotency;
mod invoice;
mod quote;
mod rate;
mod time;

pub use dashboard::{Dashboard, Dashboards};
pub use idempotency::{IdempotencyKey, InvalidIdempotencyKey};
pub use invoice::{Done, InvoiceError, Invoices, NewInvoice, VoidedBy};
pub use quote::{Checkout, CheckoutPlace, PaymentCall, QuoteError, payment_link};
pub use rate::{NewRate, RateSetError, Rates};
