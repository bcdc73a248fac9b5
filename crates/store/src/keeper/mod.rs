//! The keeper's memory: offences that were seen, and what is done on chain about them and about jails that end.
//!
//! What counts as an offence, and when an action is carried out, is decided above. Here each of them exists once.

mod action;
mod report;
#[cfg(test)]
mod tests;

pub use action::{ActionRow, ActionState, ActionTransaction, Begun, KeeperTask, NewAction};
pub use report::{DoubleSign, NewReport, OffenceKind, ReportRow};

/// The lease of the keeper.
pub const KEEPER_LEASE: &str = "keeper";
