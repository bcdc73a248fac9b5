//! Transactions on their way to a block.

use alloy_primitives::B256;
use futures_util::stream::BoxStream;

/// Hashes of transactions as they enter a pool, each once. Whoever drops it no longer listens.
///
/// This is news, not a record: what nodes heard while nobody was connected to them is not told later, and a listener that
/// does not keep up misses some.
pub type PendingHashes = BoxStream<'static, B256>;
