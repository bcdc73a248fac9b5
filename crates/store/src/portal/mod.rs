//! The developer and merchant portal: wallets and everything that belongs to them.

mod audit;
mod convert;
mod event;
mod wallet;

pub use audit::AuditRow;
pub use event::EventRow;
pub use wallet::WalletRow;
