//! Log lines go to standard error; standard output is for what the user asked for.

use std::{
    io::{self, IsTerminal},
    panic,
    sync::atomic::{AtomicBool, Ordering},
};

use anyhow::{Context, anyhow};
use tracing::error;
use tracing_subscriber::{EnvFilter, fmt, layer::SubscriberExt, util::SubscriberInitExt};

use crate::{
    config::{LogConfig, LogFormat},
    repeats::Repeats,
};

/// Whether everything on standard error is for a program that reads lines of JSON.
static IS_JSON: AtomicBool = AtomicBool::new(false);

/// Starts logging.
pub(crate) fn start(config: &LogConfig) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&config.filter)?;
    let repeats = Repeats::default();
    repeats.tell_every_minute().context("cannot start logging")?;
    let log = tracing_subscriber::registry().with(filter).with(repeats);
    let lines = fmt::layer().with_writer(io::stderr).with_ansi(io::stderr().is_terminal());
    match config.format {
        LogFormat::Text => log.with(lines.with_target(false)).try_init(),
        LogFormat::Json => {
            IS_JSON.store(true, Ordering::Relaxed);
            // What Rust prints of a panic is neither JSON nor one line.
            panic::set_hook(Box::new(|panic| error!(%panic, "a part of the program panicked")));
            log.with(lines.json()).try_init()
        }
    }
    .map_err(|error| anyhow!("cannot start logging: {error}"))
}

/// Whether lines are JSON.
pub(crate) fn is_json() -> bool {
    IS_JSON.load(Ordering::Relaxed)
}
