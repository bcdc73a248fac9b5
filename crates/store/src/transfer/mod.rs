//! All rows of a database as one file that either engine writes and reads, and copies of a SQLite file in use.
//!
//! The file is lines of JSON: a header that names the schema and every table's columns, a line for each table, an array
//! for each row, and an end with the number of rows and the SHA-256 of everything before it. What the tables are is asked
//! of the database itself, so that a new migration needs no change here.

mod backup;
mod error;
mod export;
mod import;
mod line;
mod table;

#[cfg(test)]
mod tests;

pub use backup::BackupError;
pub use error::TransferError;

/// What was moved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transferred {
    /// The last migration of the schema.
    pub schema: i64,
    /// Every table and its number of rows, in the order of the file.
    pub tables: Vec<(String, u64)>,
}

impl Transferred {
    /// Rows of all tables.
    pub fn rows(&self) -> u64 {
        self.tables.iter().map(|(_, rows)| rows).sum()
    }
}
