//! The validator program: its rules, applications to it, and how the validators are doing.
//!
//! - [`program`] has the constants.
//! - [`application`] takes applications, has them reviewed and follows them on chain.
//! - [`board`] is everything known of the validators at the head, computed once per block.
//! - [`ranking`] and [`expansion`] are made from a board and nothing else; [`detail`] adds what the index keeps.
//! - [`mail`] tells applicants what became of their applications.
//!
//! The crate reads the registry and the index; it writes applications and mail only. It does not vote, slash or unjail.

pub mod application;
pub mod board;
pub mod detail;
mod error;
pub mod expansion;
pub mod mail;
pub mod program;
pub mod ranking;
pub mod rewards;

use std::sync::Arc;

pub use application::{Applications, Decision};
pub use board::{Board, BoardKeeper, BoardSettings};
pub use error::{ApplicationError, ValidatorError};
pub use ranking::Ranking;

/// Tells the time in Unix milliseconds.
pub type Clock = Arc<dyn Fn() -> u64 + Send + Sync>;
