//! Appending blocks to the index.
//!
//! [`IndexWriter`] owns the order of things: move the cursor, name the accounts, insert the rows, add up the sums, commit.
//! The files beside it own one of these each.

mod account;
mod entry;
mod fee;
mod insert;
pub(in crate::index) mod sums;
mod writer;

pub use entry::{NewBlock, NewEvent, NewTransaction, NewTurn, NewVote};
pub use writer::{Appended, ChainIdentity, IndexWriter, WriterError};
