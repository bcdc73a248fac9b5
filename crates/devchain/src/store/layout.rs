//! The data directory on disk: a marker that says whose it is and in which format, and the database beside it.
//!
//! The marker is written before anything else, and locked as long as a process uses the directory.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use super::StoreError;

const MARKER: &str = "chainnet-data";
const FORMAT: &str = "chainnet chain data, format 1";
const DATABASE: &str = "db";
/// The engine writes this file when it has made everything else.
const DATABASE_COMPLETE: &str = "version";

/// A data directory that this process alone uses while the lock lives.
pub(super) struct Layout {
    pub(super) database: PathBuf,
    pub(super) lock: File,
}

/// Claims a directory: an empty or missing one becomes a data directory, one of ours is checked, others are refused.
pub(super) fn claim(dir: &Path) -> Result<Layout, StoreError> {
    let unusable = |source| StoreError::Directory {
        dir: dir.into(),
        source,
    };
    fs::create_dir_all(dir).map_err(unusable)?;
    if !dir.join(MARKER).try_exists().map_err(unusable)? {
        refuse_foreign(dir)?;
    }
    let mut lock = OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .open(dir.join(MARKER))
        .map_err(unusable)?;
    match lock.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(StoreError::InUse { dir: dir.into() }),
        Err(TryLockError::Error(source)) => return Err(unusable(source)),
    }
    check_format(dir, &mut lock)?;
    let database = dir.join(DATABASE);
    discard_unfinished(&database).map_err(unusable)?;
    Ok(Layout { database, lock })
}

fn refuse_foreign(dir: &Path) -> Result<(), StoreError> {
    let unusable = |source| StoreError::Directory {
        dir: dir.into(),
        source,
    };
    match fs::read_dir(dir).map_err(unusable)?.next() {
        None => Ok(()),
        Some(entry) => {
            let found = entry
                .map_err(unusable)?
                .file_name()
                .to_string_lossy()
                .into_owned();
            // Another process may have claimed the directory in the meantime.
            if found == MARKER {
                Ok(())
            } else {
                Err(StoreError::Foreign {
                    dir: dir.into(),
                    found,
                })
            }
        }
    }
}

/// Reads the marker, or writes it if it is empty: then the directory is new, or its first process died at once.
fn check_format(dir: &Path, marker: &mut File) -> Result<(), StoreError> {
    let unusable = |source| StoreError::Directory {
        dir: dir.into(),
        source,
    };
    let mut found = Vec::new();
    marker.take(256).read_to_end(&mut found).map_err(unusable)?;
    if found.is_empty() {
        writeln!(marker, "{FORMAT}").map_err(unusable)?;
        return marker.sync_all().map_err(unusable);
    }
    let found = String::from_utf8_lossy(&found).trim().to_owned();
    if found == FORMAT {
        return Ok(());
    }
    Err(StoreError::UnknownFormat {
        dir: dir.into(),
        found,
        known: FORMAT,
    })
}

/// Removes a database whose creation was cut short; the engine would neither open nor replace it.
fn discard_unfinished(database: &Path) -> io::Result<()> {
    if database.try_exists()? && !database.join(DATABASE_COMPLETE).try_exists()? {
        fs::remove_dir_all(database)?;
    }
    Ok(())
}
