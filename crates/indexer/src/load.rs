//! Reading blocks ahead of the writer, in order and with bounds.
//!
//! A range of blocks is one task: its blocks are fetched a few at a time, then prepared together on a thread that may
//! be busy. A few tasks run at once; how long their ranges are follows from how full the blocks have been.

use std::{
    ops::RangeInclusive,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use alloy_primitives::Address;
use chain::{Block, ChainClient, Receipt};
use futures_util::{Stream, StreamExt, TryStreamExt, stream};
use store::index::NewBlock;

use crate::{Contracts, prepare::prepare, trouble::Trouble};

/// Ranges that are loaded at once, beside the one that is written.
const TASKS: usize = 6;
/// Blocks of a range that are fetched at once.
const FETCHES: usize = 8;
/// Blocks of the longest range.
const MOST_BLOCKS: u64 = 256;
/// Transactions that a range should have at most; only a single block may have more.
const MOST_TRANSACTIONS: u64 = 8_192;
/// Ranges that are written together when they are ready together. The account histories of a part of the chain touch about as
/// many pages of the database whether the part is long or short, so long parts cost less.
const WRITTEN_TOGETHER: usize = 8;

/// Reads blocks.
pub(crate) struct Loader {
    client: Arc<dyn ChainClient>,
    contracts: Contracts,
    /// How many blocks the next range has.
    stride: AtomicU64,
}

impl Loader {
    pub(crate) fn new(client: Arc<dyn ChainClient>, contracts: Contracts) -> Self {
        Self { client, contracts, stride: AtomicU64::new(1) }
    }

    /// The blocks of a range, in order, in groups that are written together.
    pub(crate) fn load(
        self: Arc<Self>,
        range: RangeInclusive<u64>,
    ) -> impl Stream<Item = Result<Vec<NewBlock>, Trouble>> {
        let (first, last) = range.into_inner();
        let strides = Arc::clone(&self);
        let ranges = stream::unfold(first, move |from| {
            let stride = strides.stride.load(Ordering::Relaxed);
            let to = from.saturating_add(stride - 1).min(last);
            std::future::ready((from <= last).then_some((from..=to, to + 1)))
        });
        // Tasks of their own go on while the writer waits for the database.
        let tasks = ranges.map(move |range| tokio::spawn(Arc::clone(&self).load_range(range)));
        let loaded = tasks.buffered(TASKS).map(|loaded| loaded?);
        loaded.ready_chunks(WRITTEN_TOGETHER).flat_map(|ranges| stream::iter(join(ranges)))
    }

    async fn load_range(self: Arc<Self>, range: RangeInclusive<u64>) -> Result<Vec<NewBlock>, Trouble> {
        let before = match range.start().checked_sub(1) {
            None => Address::ZERO,
            Some(number) => self.block(number).await?.header.beneficiary,
        };
        let fetches = stream::iter(range).map(|number| self.fetch(number));
        let fetched: Vec<_> = fetches.buffered(FETCHES).try_collect().await?;
        let contracts = self.contracts;
        let prepared =
            tokio::task::spawn_blocking(move || prepare_all(&fetched, before, &contracts)).await??;
        self.adapt(&prepared);
        Ok(prepared)
    }

    async fn fetch(&self, number: u64) -> Result<(Arc<Block>, Arc<Vec<Receipt>>), Trouble> {
        let block = self.block(number).await?;
        let receipts = match block.transactions.is_empty() {
            true => Arc::default(),
            false => self.client.receipts(&block).await?,
        };
        Ok((block, receipts))
    }

    async fn block(&self, number: u64) -> Result<Arc<Block>, Trouble> {
        self.client.block(number).await?.ok_or(Trouble::Missing(number))
    }

    /// Doubles the stride while blocks are light, and fits it to heavy ones.
    fn adapt(&self, loaded: &[NewBlock]) {
        let blocks = loaded.len() as u64;
        let transactions: u64 = loaded.iter().map(|block| block.transactions.len() as u64).sum();
        let fitting = (MOST_TRANSACTIONS * blocks).checked_div(transactions).unwrap_or(MOST_BLOCKS);
        self.stride.store(fitting.min(2 * blocks).clamp(1, MOST_BLOCKS), Ordering::Relaxed);
    }
}

/// Ranges that are written together, and what went wrong behind them: blocks that were loaded before a failure are not
/// loaded again.
fn join<B>(ranges: Vec<Result<Vec<B>, Trouble>>) -> impl Iterator<Item = Result<Vec<B>, Trouble>> {
    let (mut blocks, mut trouble) = (Vec::new(), None);
    for range in ranges {
        match range {
            Ok(range) => blocks.extend(range),
            Err(error) => {
                trouble = Some(Err(error));
                break;
            }
        }
    }
    let blocks = (!blocks.is_empty()).then_some(Ok(blocks));
    blocks.into_iter().chain(trouble)
}

fn prepare_all(
    fetched: &[(Arc<Block>, Arc<Vec<Receipt>>)],
    mut parent_coinbase: Address,
    contracts: &Contracts,
) -> Result<Vec<NewBlock>, Trouble> {
    let mut prepared = Vec::with_capacity(fetched.len());
    for (block, receipts) in fetched {
        prepared.push(prepare(block, receipts, parent_coinbase, contracts)?);
        parent_coinbase = block.header.beneficiary;
    }
    Ok(prepared)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_loaded_before_a_failure_is_kept() {
        let ranges = vec![Ok(vec![1, 2]), Ok(vec![3]), Err(Trouble::Missing(4)), Ok(vec![5])];
        let mut joined = join(ranges);
        assert_eq!(joined.next().unwrap().unwrap(), [1, 2, 3]);
        assert!(matches!(joined.next(), Some(Err(Trouble::Missing(4)))));
        assert!(joined.next().is_none());
        assert!(join::<u8>(vec![Err(Trouble::Missing(0))]).all(|range| range.is_err()));
    }
}
