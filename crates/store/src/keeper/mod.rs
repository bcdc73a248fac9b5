//! The keeper's memory: offences that were seen, what is done on chain about them and about jails that end, and what validators
//! are asked to vote.
//!
//! What counts as an offence, and when an action is carried out, is decided above. Here each of them exists once.

mod action;
mod report;
#[cfg(test)]
mod tests;
mod vote;

pub use action::{ActionRow, ActionState, ActionTransaction, Begun, KeeperTask, NewAction};
pub use report::{DoubleSign, NewReport, OffenceKind, ReportRow};
pub use vote::{NewVote, SetChange, VoteRow, VoteState};

/// The lease of the keeper.
pub const KEEPER_LEASE: &str = "keeper";
