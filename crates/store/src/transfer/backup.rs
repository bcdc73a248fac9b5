//! A copy of a SQLite file while it is in use.

use std::{
    fs::{self, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use sqlx::{ConnectOptions, Connection, sqlite::SqliteConnectOptions};

use crate::{Db, StoreError, db::Pools};

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// PostgreSQL has a program for that.
    #[error("PostgreSQL makes its own backups: pg_dump --format=custom --file=FILE DATABASE_URL")]
    UsePgDump,
    /// The file is there, or cannot be made.
    #[error("the file cannot be made")]
    File(#[from] io::Error),
    /// The database failed.
    #[error("the database failed")]
    Store(#[from] StoreError),
    /// The copy is not what it should be. It was removed.
    #[error("the copy is damaged: {0}")]
    Damaged(String),
}

impl Db {
    /// Copies the database of this moment into a file that does not exist yet, while others read and write. Answers its
    /// bytes.
    pub async fn backup(&self, to: &Path) -> Result<u64, BackupError> {
        let options = match &self.pools {
            Pools::Sqlite { readers, .. } => readers.connect_options(),
            Pools::Postgres(_) => return Err(BackupError::UsePgDump),
        };
        // Made here, so that nobody else can read it at any moment. SQLite takes an empty file for none.
        OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
        let copied = copy(&options, to).await;
        if copied.is_err() {
            // What is wrong is told; that the rest of it stays is not worse.
            let _ = fs::remove_file(to);
        }
        copied
    }
}

async fn copy(options: &SqliteConnectOptions, to: &Path) -> Result<u64, BackupError> {
    let path = to.to_str().ok_or_else(|| io::Error::other("its name is not UTF-8"))?;
    let fail = |error: sqlx::Error| BackupError::Store(error.into());
    let mut source = options.clone().pragma("query_only", "0").connect().await.map_err(fail)?;
    sqlx::query("VACUUM INTO $1").bind(path).execute(&mut source).await.map_err(fail)?;
    source.close().await.map_err(fail)?;
    let options = SqliteConnectOptions::new().filename(to).read_only(true).disable_statement_logging();
    let mut made = options.connect().await.map_err(fail)?;
    let verdict: String =
        sqlx::query_scalar("PRAGMA quick_check").fetch_one(&mut made).await.map_err(fail)?;
    made.close().await.map_err(fail)?;
    if verdict != "ok" {
        return Err(BackupError::Damaged(verdict));
    }
    let file = fs::File::open(to)?;
    file.sync_all()?;
    Ok(file.metadata()?.len())
}
