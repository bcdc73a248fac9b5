//! Why rows were not moved.

use std::io;

use crate::StoreError;

/// Why rows were not moved. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// The file cannot be read or written.
    #[error("the file cannot be read or written")]
    File(#[from] io::Error),
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] StoreError),
    /// It is no file of ours.
    #[error("this is not an export of a chainnet database")]
    Foreign,
    /// Another version of this program has written the file in a way that this one does not know.
    #[error("the file has format {found}, this program reads {known}")]
    Format {
        /// Of the file.
        found: u32,
        /// The only one that is read.
        known: u32,
    },
    /// The file's tables are of another version.
    #[error(
        "the file was written with schema {found}, this program has {known}: export it again with the version of \
         chainnet that you import with"
    )]
    Schema {
        /// Of the file.
        found: i64,
        /// Of this program.
        known: i64,
    },
    /// The file's columns are not those of the database.
    #[error("table {table} has other columns in the file than in the database")]
    Columns {
        /// Which table.
        table: String,
    },
    /// There is something in the database.
    #[error("the database is not empty: {table} has rows; import into a fresh one")]
    NotEmpty {
        /// The first table with rows.
        table: String,
    },
    /// The file ends before its end.
    #[error("the file is cut off after line {line}: it has no end")]
    CutOff {
        /// Its last line.
        line: u64,
    },
    /// A line makes no sense.
    #[error("line {line} of the file is damaged: {what}")]
    Damaged {
        /// Which line.
        line: u64,
        /// What is wrong with it.
        what: &'static str,
    },
    /// What the file says of itself does not fit.
    #[error("the file was changed after it was written: {what}")]
    Tampered {
        /// What does not fit.
        what: &'static str,
    },
}

impl From<sqlx::Error> for TransferError {
    fn from(error: sqlx::Error) -> Self {
        Self::Store(error.into())
    }
}
