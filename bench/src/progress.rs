//! What the person waiting sees.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};

/// A bar over a known number of things, hidden when nobody watches.
pub(crate) fn bar(total: usize, what: String) -> ProgressBar {
    let style = ProgressStyle::with_template("{msg:44} {wide_bar} {pos}/{len} {elapsed}");
    let bar = ProgressBar::new(total as u64).with_message(what);
    if let Ok(style) = style {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// A sign of life for work of a known length.
pub(crate) fn spinner(what: String) -> ProgressBar {
    let spinner = ProgressBar::new_spinner().with_message(what);
    spinner.enable_steady_tick(Duration::from_millis(200));
    spinner
}
