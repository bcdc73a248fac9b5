//! What a poll finds: the blocks since the last one, which are still in memory unless the gateway has just started.

use alloy_primitives::B256;
use bytes::Bytes;
use jsonrpc::{Answer, Params};
use serde::Deserialize;

use super::{LIFETIME, installed::Collecting};
use crate::{
    cache::Tier,
    feed::Moment,
    gateway::Gateway,
    head::Served,
    logs::{Blocks, Bound, LogQuery},
    method::{self, Known},
    refusal::Refusal,
};

/// Most blocks that one poll looks at; a longer absence is caught up with over several polls.
const MOST_BLOCKS: u64 = 1024;
/// A poll that has found this many bytes leaves the rest to the next one, at the end of a block.
const ENOUGH_BYTES: usize = 4 * 1024 * 1024;

/// The node's answer is not what it should be.
const NOT_UNDERSTOOD: Refusal = Refusal::Unavailable { reason: "not_understood" };

impl Gateway {
    /// What a filter has collected, and how it goes on.
    pub(super) async fn collect(
        &self,
        collecting: &Collecting,
        head: &Served,
    ) -> Result<(Bytes, Collecting), Refusal> {
        match collecting {
            Collecting::Logs { filter, next } => {
                let (json, next) = self.collect_logs(&LogQuery::read(filter)?, *next, head).await?;
                Ok((json, Collecting::Logs { filter: filter.clone(), next }))
            }
            Collecting::Blocks { next } => {
                let (json, next) = self.collect_blocks(*next, head).await?;
                Ok((json, Collecting::Blocks { next }))
            }
            Collecting::Pending { since } => {
                let (json, since) = self.collect_pending(*since).await;
                Ok((json, Collecting::Pending { since }))
            }
        }
    }

    async fn collect_logs(
        &self,
        query: &LogQuery,
        next: u64,
        head: &Served,
    ) -> Result<(Bytes, u64), Refusal> {
        let (start, end) = span(next, query.blocks, head);
        if start == end {
            return Ok((Bytes::from_static(b"[]"), end));
        }
        let Some(blocks) = self.window.range(start, end - 1) else {
            let asked = self.logs_between(get_logs()?, &query.filter, start, end - 1, Tier::Final, head);
            return Ok((result(asked.await?.0)?, end));
        };
        let mut list = List::new();
        for block in blocks {
            let wanted = block.logs.iter().filter(|log| query.filter.matches(log));
            wanted.for_each(|log| list.push(&log.json));
            if list.len() > ENOUGH_BYTES {
                return Ok((list.end(), block.number + 1));
            }
        }
        Ok((list.end(), end))
    }

    /// What `eth_getLogs` answers to this filter.
    pub(super) async fn logs_of(&self, filter: &str, head: &Served) -> Result<Bytes, Refusal> {
        let params = format!("[{filter}]");
        result(self.get_logs(get_logs()?, Params::List(&params), head).await?.0)
    }

    async fn collect_blocks(&self, next: u64, head: &Served) -> Result<(Bytes, u64), Refusal> {
        let (start, end) = span(next, Blocks::Range { from: Bound::Head, to: Bound::Head }, head);
        let mut list = List::new();
        for number in start..end {
            let warm = self.window.range(number, number).and_then(|blocks| Some(blocks.first()?.hash));
            let hash = match warm {
                Some(hash) => hash,
                None => self.block_hash(number, head).await?,
            };
            list.push(format!("\"{hash:#x}\"").as_bytes());
        }
        Ok((list.end(), end))
    }

    async fn block_hash(&self, number: u64, head: &Served) -> Result<B256, Refusal> {
        #[derive(Deserialize)]
        struct Hash {
            hash: B256,
        }
        let known = method::find("eth_getBlockByNumber").ok_or(Refusal::MethodNotFound)?;
        let params = format!("[\"{number:#x}\",false]");
        let block = result(self.read(known, Params::List(&params), head).await?.0)?;
        serde_json::from_slice(&block).map(|Hash { hash }| hash).map_err(|_| NOT_UNDERSTOOD)
    }

    async fn collect_pending(&self, since: Moment) -> (Bytes, Moment) {
        let mut list = List::new();
        // A replica that did not listen until now leaves what there is to one that did.
        let Some((hashes, since)) = self.hub.pool().poll(since, LIFETIME).await else {
            return (list.end(), since);
        };
        hashes.iter().for_each(|hash| list.push(format!("\"{hash:#x}\"").as_bytes()));
        (list.end(), since)
    }
}

fn get_logs() -> Result<Known, Refusal> {
    method::find("eth_getLogs").ok_or(Refusal::MethodNotFound)
}

fn result(answer: Answer) -> Result<Bytes, Refusal> {
    match answer {
        Answer::Result(json) => Ok(json),
        Answer::Error(_) => Err(NOT_UNDERSTOOD),
    }
}

/// The blocks of a poll, the end not included: those since the last poll that the filter names, as in geth. `evm_revert`
/// may have made the chain shorter than what was polled before; then the filter goes on from the new head.
fn span(next: u64, wanted: Blocks, head: &Served) -> (u64, u64) {
    let beyond_head = head.number + 1;
    let (first, last) = match wanted {
        Blocks::Range { from, to } => (height(from).unwrap_or(0), height(to).unwrap_or(u64::MAX)),
        Blocks::Hash(_) => (0, 0),
    };
    let start = next.min(beyond_head).max(first);
    let end = beyond_head.min(last.saturating_add(1)).min(start.saturating_add(MOST_BLOCKS));
    (start, end.max(start))
}

fn height(bound: Bound) -> Option<u64> {
    match bound {
        Bound::Head => None,
        Bound::Number(number) => Some(number),
    }
}

/// A JSON list in the making.
struct List(Vec<u8>);

impl List {
    fn new() -> Self {
        Self(vec![b'['])
    }

    fn push(&mut self, json: &[u8]) {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        self.0.extend_from_slice(json);
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn end(mut self) -> Bytes {
        self.0.push(b']');
        self.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(number: u64) -> Served {
        Served::new(number, 0)
    }

    fn range(from: Option<u64>, to: Option<u64>) -> Blocks {
        let bound = |number: Option<u64>| number.map_or(Bound::Head, Bound::Number);
        Blocks::Range { from: bound(from), to: bound(to) }
    }

    #[test]
    fn a_poll_looks_at_new_blocks_that_the_filter_names() {
        assert_eq!(span(5, range(None, None), &at(9)), (5, 10));
        assert_eq!(span(10, range(None, None), &at(9)), (10, 10));
        assert_eq!(span(5, range(Some(8), None), &at(9)), (8, 10));
        assert_eq!(span(5, range(Some(20), None), &at(9)), (20, 20));
        assert_eq!(span(5, range(None, Some(6)), &at(9)), (5, 7));
        assert_eq!(span(5, range(None, Some(3)), &at(9)), (5, 5));
        assert_eq!(span(0, range(None, None), &at(5000)), (0, MOST_BLOCKS));
    }

    #[test]
    fn a_poll_after_the_chain_went_back_goes_on_from_the_new_head() {
        assert_eq!(span(100, range(None, None), &at(9)), (10, 10));
        assert_eq!(span(10, range(None, None), &at(12)), (10, 13));
    }
}
