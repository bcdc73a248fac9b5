//! The file of a SQLite database is not begun afresh by accident: without it beside a chain and secrets, everything that was sold,
//! issued and applied for is gone, and a network that starts all the same looks well.

use std::{
    fs::{self, OpenOptions},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use store::Db;

use crate::{config::Config, data_dir};

/// Lies in a data directory from its beginning until its database exists: a start that was broken off in between may go on.
const PENDING: &str = "database.pending";
/// Secrets that are made with a database and mean nothing without it.
const SECRETS: [&str; 2] = ["keys/pepper", "keys/webhook"];

/// Refuses a data directory that has been used with a database whose file is not there any more, or empty. Writes nothing.
pub(crate) fn check(config: &Config) -> anyhow::Result<()> {
    let Some(file) = Db::file_of(config.database.expose()) else { return Ok(()) };
    if has_content(&file) || pending(config).exists() || !is_used(config) {
        return Ok(());
    }
    let found = if file.exists() { "is empty" } else { "is missing" };
    bail!(
        "the database {} {found}, but {} has a chain or secrets that were used with one: restore a backup of it, or, to \
         begin afresh on purpose and lose keys, orders, invoices and applications, run `chainnet db create`",
        file.display(),
        config.data.display()
    )
}

/// A chain is about to be put into the data directory: if that is its beginning, its database comes later.
pub(crate) fn before_chain(config: &Config) -> anyhow::Result<()> {
    let has_database = Db::file_of(config.database.expose()).is_some_and(|file| has_content(&file));
    if has_database || is_used(config) { Ok(()) } else { begin(config) }
}

/// Lets the next start begin with an empty database.
pub(crate) fn begin(config: &Config) -> anyhow::Result<()> {
    if Db::file_of(config.database.expose()).is_none() {
        return Ok(());
    }
    data_dir::create(&config.data)?;
    let file = pending(config);
    let made = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&file);
    made.map(drop).with_context(|| format!("cannot create {}", file.display()))
}

/// The database exists.
pub(crate) fn opened(config: &Config) {
    // It is there once in the life of a data directory.
    let _ = fs::remove_file(pending(config));
}

fn pending(config: &Config) -> PathBuf {
    config.data.join(PENDING)
}

fn has_content(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|found| found.len() > 0)
}

/// Whether the data directory was used before.
fn is_used(config: &Config) -> bool {
    let has_chain = fs::read_dir(config.chain_dir()).is_ok_and(|mut entries| entries.next().is_some());
    has_chain || SECRETS.iter().any(|secret| config.data.join(secret).exists())
}
