//! The commands that move and copy the database.

use std::path::PathBuf;

use clap::Subcommand;

/// `chainnet db …`.
#[derive(Debug, Subcommand)]
pub enum DbCommand {
    /// Make an empty database on purpose, where a data directory has lost the one it was used with.
    Create,
    /// Write all rows of one moment to a file that either engine reads. Others may go on.
    Export {
        /// File to write; there must be none.
        file: PathBuf,
    },
    /// Load such a file into a database that nobody has used: all of it or nothing.
    Import {
        /// File to read.
        file: PathBuf,
    },
    /// Copy a SQLite database while it is in use.
    Backup {
        /// File to write; there must be none.
        file: PathBuf,
    },
}
