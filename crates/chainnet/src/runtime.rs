//! Running until told to stop.

use std::future::Future;

use anyhow::Context;
use tokio::signal::unix::{SignalKind, signal};
use tracing::warn;

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

/// Waits for Ctrl-C or SIGTERM. Whoever sends a second one wants the end at once, and gets it: nothing is lost that `kill -9`
/// would not lose either.
pub(crate) async fn told_to_stop() -> anyhow::Result<()> {
    let listen = |kind| signal(kind).context("cannot listen for signals");
    let (mut interrupt, mut terminate) = (listen(SignalKind::interrupt())?, listen(SignalKind::terminate())?);
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
    tokio::spawn(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        warn!("told to stop a second time: ending at once");
        std::process::exit(1);
    });
    Ok(())
}
