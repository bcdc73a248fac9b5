//! The developer and merchant portal: wallets and everything that belongs to them.

mod audit;
mod convert;
mod idempotency;
mod invoice;
mod rate;
mod revenue;
mod wallet;

pub use audit::AuditRow;
pub use idempotency::{KeptAnswer, Once, OnceRequest, Repeat};
pub use invoice::{
    InvoiceCreation, InvoiceFilter, InvoicePaymentRow, InvoiceRecord, InvoiceRow, InvoiceVoid, NewQuote,
    QuoteIssue, QuoteRow,
};
pub use rate::RateRow;
pub use revenue::RevenueRow;
pub use wallet::WalletRow;
