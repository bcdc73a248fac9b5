//! Log lines go to standard error; standard output is for what the user asked for.

use std::io::{self, IsTerminal};

use anyhow::anyhow;
use tracing_subscriber::EnvFilter;

use crate::config::{LogConfig, LogFormat};

/// Starts logging.
pub(crate) fn start(config: &LogConfig) -> anyhow::Result<()> {
    let filter = EnvFilter::try_new(&config.filter)?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(io::stderr().is_terminal());
    match config.format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    }
    .map_err(|error| anyhow!("cannot start logging: {error}"))
}
