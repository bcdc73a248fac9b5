//! The developer and merchant portal: wallets and everything that belongs to them.

mod audit;
mod challenge;
mod convert;
mod idempotency;
mod invoice;
mod key;
mod rate;
mod revenue;
mod session;
mod wallet;

pub use audit::AuditRow;
pub use challenge::{ChallengeRow, ConsumedChallenge};
pub use idempotency::{KeptAnswer, Once, OnceRequest, Repeat};
pub use invoice::{
    InvoiceCreation, InvoiceFilter, InvoicePaymentRow, InvoiceRecord, InvoiceRow, InvoiceVoid, NewQuote,
    QuoteIssue, QuoteRow,
};
pub use key::{DeveloperKeyRow, KeyRevocation};
pub use rate::RateRow;
pub use revenue::RevenueRow;
pub use session::SessionRow;
pub use wallet::WalletRow;
