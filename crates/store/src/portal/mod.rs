//! The developer and merchant portal: wallets and everything that belongs to them.

mod audit;
mod convert;
mod credit;
mod cursor;
mod event;
mod order;
mod payment;
mod wallet;

pub use audit::AuditRow;
pub use credit::{
    ChainPayment, CreditBatch, CreditOutcome, Credits, Ledger, NewDelivery, PaidInvoice, PaidOrder,
    PaymentTarget, QuotedInvoice,
};
pub use cursor::{CreditPoint, IndexPoint};
pub use event::EventRow;
pub use order::{OrderRow, Purchase};
pub use payment::PaymentRow;
pub use wallet::WalletRow;
