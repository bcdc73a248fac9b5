//! Time as the store keeps it.

use std::sync::Arc;

use chain::Head;
use jiff::Timestamp;
use tokio::sync::watch;

/// Unix milliseconds. Before 1970 there is nothing to sell.
pub(crate) fn millis(time: Timestamp) -> u64 {
    u64::try_from(time.as_millisecond()).unwrap_or(0)
}

/// The time of the last head that is known, in Unix milliseconds. What is bought and sold ends by the chain's time, which may
/// be ahead of the machine's on a network where time is moved.
pub(crate) fn chain_millis(heads: &watch::Receiver<Option<Arc<Head>>>) -> Option<u64> {
    heads.borrow().as_ref().map(|head| head.header.timestamp.saturating_mul(1_000))
}
