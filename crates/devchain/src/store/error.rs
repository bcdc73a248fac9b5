//! What can go wrong with the store, and what its user can do about it.

use std::{io, path::PathBuf};

/// Why the store could not be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The directory belongs to something else.
    #[error(
        "{} is not a chainnet data directory (it holds {found}); \
         choose another directory with --data or CHAINNET_DATA", dir.display()
    )]
    Foreign {
        /// The directory.
        dir: PathBuf,
        /// One of the entries in it.
        found: String,
    },
    /// The directory was written by a version with another format.
    #[error(
        "{} was written by another version of chainnet (its format is `{found}`, this version reads `{known}`); \
         use that version, or choose another directory with --data or CHAINNET_DATA", dir.display()
    )]
    UnknownFormat {
        /// The directory.
        dir: PathBuf,
        /// What its marker says.
        found: String,
        /// What this version would write.
        known: &'static str,
    },
    /// Another process has the directory open.
    #[error(
        "{} is in use by another chainnet process; \
         stop that process, or choose another directory with --data or CHAINNET_DATA", dir.display()
    )]
    InUse {
        /// The directory.
        dir: PathBuf,
    },
    /// The directory cannot be created, listed or written to.
    #[error(
        "{} cannot be used as the data directory; \
         check its permissions, or choose another with --data or CHAINNET_DATA", dir.display()
    )]
    Directory {
        /// The directory.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The database in the directory does not open or does not hang together.
    #[error(
        "the chain database in {} is damaged; restore it from a backup, \
         or move it away to start a fresh chain", dir.display()
    )]
    Damaged {
        /// The directory.
        dir: PathBuf,
        /// What is wrong.
        source: Damage,
    },
    /// A record does not decode.
    #[error("the stored {kind} of block {number} is corrupt")]
    CorruptRecord {
        /// Which part of the block.
        kind: &'static str,
        /// The block.
        number: u64,
    },
    /// An entry of an index does not decode.
    #[error("an entry of the stored {index} is corrupt")]
    CorruptIndex {
        /// The index.
        index: &'static str,
    },
    /// A block was committed that does not follow the head.
    #[error("block {number} does not follow the head{}", head.map(|head| format!(", {head}")).unwrap_or_default())]
    OutOfOrder {
        /// The head's height.
        head: Option<u64>,
        /// The block's height.
        number: u64,
    },
    /// There is no block at this height.
    #[error("there is no block {0}")]
    UnknownBlock(u64),
    /// The database engine failed. After a failed write it refuses all further writes.
    #[error("the chain database failed")]
    Engine(#[from] fjall::Error),
}

/// What is wrong with a damaged database.
#[derive(Debug, thiserror::Error)]
pub enum Damage {
    /// The engine does not recover it.
    #[error("the database engine does not recover it")]
    Unrecoverable(#[source] fjall::Error),
    /// The engine gave up half way through recovering it.
    #[error("the database engine gave up recovering it")]
    Abandoned,
    /// There was a chain in it.
    #[error("it held a chain, but no block is left")]
    Emptied,
    /// The head block does not read.
    #[error("the head block does not read")]
    Unreadable(#[source] Box<StoreError>),
    /// A part of the head block is missing.
    #[error("{part} of the head block {number} is missing")]
    Incomplete {
        /// Which part.
        part: &'static str,
        /// The head's height.
        number: u64,
    },
}

impl From<StoreError> for Damage {
    fn from(error: StoreError) -> Self {
        Self::Unreadable(Box::new(error))
    }
}
