//! The index: what the chain has said, laid out for lists and sums.
//!
//! One writer appends whole blocks ([`IndexWriter`]); everybody reads through [`crate::Db`]. What is here is derived from
//! the chain and nothing else, so it can be dropped and built again. It does not interpret the chain: turns, events and
//! fees come ready-made in a [`NewBlock`].

#[cfg(any(test, feature = "testing"))]
mod dump;
mod event;
mod place;
mod read;
mod row;
#[cfg(test)]
mod tests;
mod write;

pub use event::{ContractEvent, EventKind};
pub use read::{EventFilter, ValidatorWork};
pub use row::{
    ActivityReport, ActivitySums, BlockRow, EventRow, FeeDay, FeeSums, FeeTotals, IndexHead, SourceFees,
    StripBlock, TransactionRow, TurnOutcome, TurnRow, ValidatorActivity, VoteRow, WindowStart,
};
pub use write::{
    Appended, ChainIdentity, IndexWriter, NewBlock, NewEvent, NewTransaction, NewTurn, NewVote, WriterError,
};
