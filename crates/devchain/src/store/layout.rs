//! The data directory on disk: a marker that says whose it is and in which format, and the database beside it.
//!
//! The marker is written before anything else, and locked as long as a process uses the directory.

use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use super::{Damage, StoreError};

const MARKER: &str = "chainnet-data";
const FORMAT: &str = "chainnet chain data, format 1";
/// Second line of the marker, from the first block on: a database without one is then damaged, not new.
const HOLDS_CHAIN: &str = "holds a chain";
const DATABASE: &str = "db";
/// The engine writes this file when it has made everything else.
const DATABASE_COMPLETE: &str = "version";

/// A data directory that this process alone uses while the lock lives.
pub(super) struct Layout {
    pub(super) database: PathBuf,
    /// The marker, locked.
    pub(super) marker: File,
    /// Whether a block was ever stored here.
    pub(super) holds_chain: bool,
}

/// Claims a directory: an empty or missing one becomes a data directory, one of ours is checked, others are refused.
pub(super) fn claim(dir: &Path) -> Result<Layout, StoreError> {
    let unusable = |source| StoreError::Directory { dir: dir.into(), source };
    fs::create_dir_all(dir).map_err(unusable)?;
    if !dir.join(MARKER).try_exists().map_err(unusable)? {
        refuse_foreign(dir)?;
    }
    let mut marker =
        OpenOptions::new().read(true).append(true).create(true).open(dir.join(MARKER)).map_err(unusable)?;
    match marker.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(StoreError::InUse { dir: dir.into() }),
        Err(TryLockError::Error(source)) => return Err(unusable(source)),
    }
    let holds_chain = check_format(dir, &mut marker)?;
    let database = dir.join(DATABASE);
    if !database.join(DATABASE_COMPLETE).try_exists().map_err(unusable)? {
        if holds_chain {
            return Err(StoreError::Damaged { dir: dir.into(), source: Damage::Emptied });
        }
        discard_unfinished(&database).map_err(unusable)?;
    }
    Ok(Layout { database, marker, holds_chain })
}

/// Notes that the database holds a block. Losing the note in a power cut loses a safeguard and nothing else.
pub(super) fn note_chain(mut marker: &File) -> io::Result<()> {
    marker.write_all(format!("{HOLDS_CHAIN}\n").as_bytes())
}

fn refuse_foreign(dir: &Path) -> Result<(), StoreError> {
    let unusable = |source| StoreError::Directory { dir: dir.into(), source };
    match fs::read_dir(dir).map_err(unusable)?.next() {
        None => Ok(()),
        Some(entry) => {
            let found = entry.map_err(unusable)?.file_name().to_string_lossy().into_owned();
            // Another process may have claimed the directory in the meantime.
            if found == MARKER { Ok(()) } else { Err(StoreError::Foreign { dir: dir.into(), found }) }
        }
    }
}

/// Reads the marker, or writes it if it is empty: then the directory is new, or its first process died at once.
/// Answers whether the directory holds a chain.
fn check_format(dir: &Path, marker: &mut File) -> Result<bool, StoreError> {
    let unusable = |source| StoreError::Directory { dir: dir.into(), source };
    let mut found = Vec::new();
    marker.take(256).read_to_end(&mut found).map_err(unusable)?;
    if found.is_empty() {
        writeln!(marker, "{FORMAT}").map_err(unusable)?;
        marker.sync_all().map_err(unusable)?;
        return Ok(false);
    }
    let found = String::from_utf8_lossy(&found).trim().to_owned();
    let mut lines = found.lines();
    match (lines.next(), lines.next()) {
        (Some(FORMAT), None) => Ok(false),
        (Some(FORMAT), Some(note)) if HOLDS_CHAIN.starts_with(note) => Ok(true),
        _ => Err(StoreError::UnknownFormat { dir: dir.into(), found, known: FORMAT }),
    }
}

/// Removes a database whose creation was cut short; the engine would neither open nor replace it.
fn discard_unfinished(database: &Path) -> io::Result<()> {
    if database.try_exists()? {
        fs::remove_dir_all(database)?;
    }
    Ok(())
}
