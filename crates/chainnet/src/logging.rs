//! Log lines go to standard error; standard output is for what the user asked for.

use std::io;

use anyhow::anyhow;
use tracing_subscriber::EnvFilter;

use crate::cli::LogFormat;

/// Starts logging. `RUST_LOG` chooses what is logged; by default warnings, and our own news.
pub(crate) fn start(format: LogFormat) -> anyhow::Result<()> {
    let filter = EnvFilter::try_from_default_env()
        .unwrap_or_else(|_| EnvFilter::new("warn,chainnet=info,chainnet_devchain=info"));
    let builder = tracing_subscriber::fmt().with_env_filter(filter).with_writer(io::stderr);
    match format {
        LogFormat::Text => builder.with_target(false).try_init(),
        LogFormat::Json => builder.json().try_init(),
    }
    .map_err(|error| anyhow!("cannot start logging: {error}"))
}
