//! The keeper: lets validators out of jail when their time is over, watches who misses turns or signs twice, and reports or
//! slashes them.
//!
//! Many processes may have a [`Keeper`]; one of them at a time holds the lease and acts. What it has decided is in the database
//! before it does anything, and a signed transaction before any node sees it, so that whoever goes on after it does the same
//! thing and nothing twice. Whether something is done is judged by the state of the registry and of the signer's nonce at
//! one block, never by what a node said to a transaction.
//!
//! Who is a validator is decided by votes. The keeper reports where the set and the registry disagree, and has validators vote
//! on it if it is told to.

mod act;
mod balance;
mod ballot;
mod double_sign;
mod downtime;
mod keeper;
mod membership;
mod metrics;
mod registry;
mod settings;
mod signer;
mod survey;
mod watch;

pub use keeper::Keeper;
pub use settings::{BalanceAlarm, DowntimeRules, KeeperSettings};
pub use survey::{OutsideValidator, SetSurvey, survey_set};
