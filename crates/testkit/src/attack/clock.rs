//! A machine whose clock is set, back and forth, while the product runs: what a bad time server or a sleeping laptop does.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use rand::{Rng, SeedableRng, rngs::StdRng};
use tempfile::TempDir;
use tokio::{task::JoinSet, time::sleep};

/// How far the clock is set at most, in seconds.
const FARTHEST: i64 = 3600;

/// The clock that a process reads by way of `libfaketime`. Time that nobody can set, it leaves alone.
pub(super) struct Clock {
    library: PathBuf,
    /// Holds the file that says how far the clock is off.
    folder: TempDir,
    dice: StdRng,
}

impl Clock {
    pub(super) fn new(library: &Path, dice: &mut StdRng) -> io::Result<Self> {
        let clock = Self {
            library: library.into(),
            folder: TempDir::new()?,
            dice: StdRng::seed_from_u64(dice.random()),
        };
        clock.set(0)?;
        Ok(clock)
    }

    /// What a process needs in its environment to read this clock.
    pub(super) fn environment(&self) -> Vec<(OsString, OsString)> {
        vec![
            ("LD_PRELOAD".into(), self.library.clone().into()),
            ("FAKETIME_TIMESTAMP_FILE".into(), self.file().into()),
            ("FAKETIME_NO_CACHE".into(), "1".into()),
            ("FAKETIME_DONT_FAKE_MONOTONIC".into(), "1".into()),
        ]
    }

    /// Sets the clock every few seconds until the tasks are dropped.
    pub(super) fn start(mut self) -> JoinSet<io::Result<()>> {
        let mut tasks = JoinSet::new();
        tasks.spawn(async move {
            loop {
                sleep(Duration::from_millis(self.dice.random_range(500..10_000))).await;
                let by = if self.dice.random() { 10 } else { FARTHEST };
                let seconds = self.dice.random_range(-by..=by);
                self.set(seconds)?;
            }
        });
        tasks
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("clock")
    }

    /// At once: nobody reads half of it.
    fn set(&self, seconds: i64) -> io::Result<()> {
        let next = self.folder.path().join("next");
        fs::write(&next, format!("{seconds:+}\n"))?;
        fs::rename(next, self.file())
    }
}
