//! The progress bar of an index that has far to go. Drawn on a terminal only.

use indexer::IndexStatus;
use indicatif::{ProgressBar, ProgressStyle};
use tokio::sync::watch;

/// Fewer blocks are indexed before anybody has read a line.
const WORTH_A_BAR: u64 = 2_000;

/// A bar with this template.
pub(crate) fn bar(length: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
    ProgressBar::new(length).with_style(style)
}

/// Shows what an index is doing, until nobody tells any more.
pub(crate) async fn show_index(mut status: watch::Receiver<IndexStatus>) {
    let mut shown: Option<ProgressBar> = None;
    loop {
        let now = status.borrow_and_update().clone();
        match now {
            IndexStatus::Backfilling { at, target } => {
                let done = at.map_or(0, |at| at + 1);
                if shown.is_none() && target.saturating_sub(done) > WORTH_A_BAR {
                    shown =
                        Some(bar(target + 1, "indexing {bar:40} {pos}/{len} blocks, {per_sec}, {eta} left"));
                    if let Some(bar) = &shown {
                        bar.reset_eta();
                    }
                }
                if let Some(bar) = &shown {
                    bar.set_length(target + 1);
                    bar.set_position(done);
                }
            }
            IndexStatus::Starting
            | IndexStatus::Following { .. }
            | IndexStatus::Standby { .. }
            | IndexStatus::Halted { .. } => {
                if let Some(bar) = shown.take() {
                    bar.finish_and_clear();
                }
            }
        }
        if status.changed().await.is_err() {
            return;
        }
    }
}
