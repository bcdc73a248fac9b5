//! The developer and merchant portal: wallets and everything that belongs to them.

mod audit;
mod convert;
mod wallet;

pub use audit::AuditRow;
pub use wallet::WalletRow;
