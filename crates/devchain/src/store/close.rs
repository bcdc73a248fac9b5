//! Closing the store so that it opens fast again.
//!
//! The engine replays its journal on opening, however much of it has reached the tables: often 64 MB. A
//! clean close moves everything into the tables and leaves an empty journal behind.

use std::{
    fs::{self, OpenOptions},
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use fjall::{Database, Keyspace, PersistMode};

use super::{Inner, StoreError};

/// A close that takes longer leaves the journal as it is, which costs time at the next opening and nothing else.
const PATIENCE: Duration = Duration::from_secs(5);

/// The engine's journals, to be emptied after the engine has closed.
pub(super) struct Journals {
    database: PathBuf,
    is_flushed: bool,
}

impl Journals {
    pub(super) fn of(database: PathBuf) -> Self {
        Self { database, is_flushed: false }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if self.head.get_mut().is_none() {
            // There is nothing to keep, or it turned out damaged and is left as it was found.
            return;
        }
        let keyspaces = [&self.keyspaces.chain, &self.keyspaces.state];
        match flush(&self.database, keyspaces) {
            Ok(is_flushed) => self.journals.is_flushed = is_flushed,
            Err(error) => tracing::warn!(%error, "the chain database could not be flushed"),
        }
    }
}

impl Drop for Journals {
    fn drop(&mut self) {
        if self.is_flushed
            && let Err(error) = empty_journals(&self.database)
        {
            tracing::warn!(%error, "the journal of the chain database could not be emptied");
        }
    }
}

/// Moves all that is only in memory and in the journal into tables; false when that takes too long.
fn flush(database: &Database, keyspaces: [&Keyspace; 2]) -> Result<bool, StoreError> {
    database.persist(PersistMode::SyncAll)?;
    for keyspace in keyspaces {
        keyspace.rotate_memtable()?;
    }
    let deadline = Instant::now() + PATIENCE;
    while keyspaces.iter().any(|keyspace| keyspace.sealed_memtable_count() > 0) {
        if Instant::now() > deadline {
            return Ok(false);
        }
        pause();
        // An engine that has failed, say because its folder is gone, says so here and will never finish.
        database.persist(PersistMode::Buffer)?;
    }
    Ok(true)
}

#[expect(clippy::disallowed_methods, reason = "the engine has no event for a finished flush")]
fn pause() {
    std::thread::sleep(Duration::from_millis(1));
}

fn empty_journals(database: &Path) -> io::Result<()> {
    for entry in fs::read_dir(database)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "jnl") {
            let journal = OpenOptions::new().write(true).open(path)?;
            journal.set_len(0)?;
            journal.sync_all()?;
        }
    }
    Ok(())
}
