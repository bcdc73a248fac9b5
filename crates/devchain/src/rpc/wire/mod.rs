//! How blocks, transactions, receipts and logs look to callers: our records turned into the Ethereum wire
//! types, and the rendered blocks that are kept to be sent again.

mod block;
mod cache;
mod receipt;
mod transaction;

pub(crate) use block::{header_view, render_block};
pub(crate) use cache::BlockCache;
pub(crate) use receipt::{block_logs, consensus_receipt, receipt_view, receipt_views};
pub(crate) use transaction::{mined_transaction, pending_transaction};
