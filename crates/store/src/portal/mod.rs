//! The developer and merchant portal: wallets and everything that belongs to them.

mod audit;
mod challenge;
mod convert;
mod key;
mod session;
mod wallet;

pub use audit::AuditRow;
pub use challenge::{ChallengeRow, ConsumedChallenge};
pub use key::{DeveloperKeyRow, KeyRevocation};
pub use session::SessionRow;
pub use wallet::WalletRow;
