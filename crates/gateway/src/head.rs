//! The served head: the one block that every answer is about, swapped as a whole.

use std::sync::Arc;

use arc_swap::ArcSwapOption;
use bytes::Bytes;
use tokio::time::Instant;

/// The head that is served.
#[derive(Debug, Clone)]
pub(crate) struct Served {
    /// Its height, to which `latest`, `safe` and `finalized` are pinned.
    pub(crate) number: u64,
    /// Grows when a development chain is set back: what was kept before is of blocks that do not exist any more.
    pub(crate) line: u32,
    /// Its height as JSON, `"0x1a"`.
    pub(crate) quoted: Bytes,
    /// When it began to be served.
    pub(crate) since: Instant,
}

impl Served {
    pub(crate) fn new(number: u64, line: u32) -> Self {
        let quoted = Bytes::from(format!("\"{number:#x}\""));
        Self { number, line, quoted, since: Instant::now() }
    }

    /// The height as JSON.
    pub(crate) fn quoted(&self) -> &str {
        // Hexadecimal digits are text.
        std::str::from_utf8(&self.quoted).unwrap_or_default()
    }
}

/// Where the served head is found.
#[derive(Default)]
pub(crate) struct ServedHead(ArcSwapOption<Served>);

impl ServedHead {
    /// The served head, once there is one.
    pub(crate) fn get(&self) -> Option<Arc<Served>> {
        self.0.load_full()
    }

    /// Serves another head.
    pub(crate) fn set(&self, served: Served) {
        self.0.store(Some(Arc::new(served)));
    }
}
