//! Time as the store keeps it.

use jiff::Timestamp;

/// Unix milliseconds. Before 1970 there is nothing to sell.
pub(crate) fn millis(time: Timestamp) -> u64 {
    u64::try_from(time.as_millisecond()).unwrap_or(0)
}
