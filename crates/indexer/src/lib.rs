//! Follows the chain into the store.
//!
//! [`Indexer`] reads every block from genesis on, works out what the index keeps of it and appends it, whole blocks only:
//! first as fast as it can, then block by block behind the head. It never skips a block: what cannot be read is tried
//! again, and a block that does not follow the last one stops it. What the tables look like is the store's business,
//! what is shown of them the API's.

mod config;
mod follow;
mod load;
mod prepare;
mod status;
mod trouble;

pub use config::{Contracts, IndexerConfig};
pub use follow::Indexer;
pub use status::{HaltReason, IndexStatus};
