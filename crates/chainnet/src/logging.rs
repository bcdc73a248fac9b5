//! Log lines go to standard error; standard output is for what the user asked for.

use std::{
    io::{self, IsTerminal},
    panic,
    sync::atomic::{AtomicBool, Ordering},
};

use anyhow::anyhow;
use tracing::error;
use tracing_subscriber::EnvFilter;

use crate::config::{LogConfig, LogFormat};

/// Whether everything on standard error is for a program that reads lines of JSON.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Starts logging.
pub(crate) fn start(config: &LogConfig) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&config.filter)?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    match config.format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => {
            IS_JSON.store(true, Ordering::Relaxed);
            // What Rust prints of a panic is neither JSON nor one line.
            panic::set_hook(Box::new(|panic| error!(%panic, "a part of the program panicked")));
            builder.json().try_init()
        }
    }
    .map_err(|error| anyhow!("cannot start logging: {error}"))
}

/// Whether lines are JSON.
pub(crate) fn is_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}
