//! Running until told to stop.

use std::future::Future;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};

/// Runs a command that waits for things on all cores.
pub(crate) fn run<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?
        .block_on(work)
}

/// Runs a command that asks a thing or two.
pub(crate) fn run_small<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?
        .block_on(work)
}

/// Waits for Ctrl-C or SIGTERM.
pub(crate) async fn told_to_stop() -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for signals")?;
    tokio::select! {
        result = tokio::signal::ctrl_c() => result.context("cannot listen for signals"),
        _ = terminate.recv() => Ok(()),
    }
}
