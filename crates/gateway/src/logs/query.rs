//! Looking logs up: in the newest blocks in memory, else from nodes, in stretches that they take and that are kept.

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use jsonrpc::{Answer, Params};

use super::{
    LogFilter, LogQuery,
    filter::{BAD_FILTER, Blocks, Bound},
};
use crate::{
    cache::Tier, gateway::Gateway, head::Served, method::Known, metrics::Way, pin::Pinned, refusal::Refusal,
    warm::WarmBlock,
};

/// Stretches of one query that are asked for at a time.
const PARALLEL: usize = 4;

impl Gateway {
    /// Answers `eth_getLogs`.
    pub(crate) async fn get_logs(
        &self,
        known: Known,
        params: Params<'_>,
        head: &Served,
    ) -> Result<(Answer, Way), Refusal> {
        let elements = params.elements().ok_or(BAD_FILTER)?;
        let query = LogQuery::read(elements.get(0).ok_or(BAD_FILTER)?)?;
        match query.blocks {
            Blocks::Hash(hash) => {
                if let Some(block) = self.window.by_hash(hash) {
                    let logs = select(&query.filter, [&*block], self.config.limits.max_answer_bytes)?;
                    return Ok((Answer::Result(logs), Way::Warm));
                }
                let members = members_after(&query.filter);
                let params = format!("[{{\"blockHash\":\"{hash:#x}\"{members}}}]").into();
                self.read_pinned(known, Pinned { params, tier: None, at: head.number }, head).await
            }
            Blocks::Range { from, to } => {
                let last = to.at(head).min(head.number);
                let tier = if to == Bound::Head { Tier::Head(head.number) } else { Tier::Final };
                self.logs_between(known, &query.filter, from.at(head), last, tier, head).await
            }
        }
    }

    /// The logs of these blocks, both included. The last stretch is kept in the given tier, the others for ever.
    pub(crate) async fn logs_between(
        &self,
        known: Known,
        filter: &LogFilter,
        from: u64,
        to: u64,
        last_tier: Tier,
        head: &Served,
    ) -> Result<(Answer, Way), Refusal> {
        let limits = &self.config.limits;
        if from > head.number {
            return Ok((Answer::Result(Bytes::from_static(b"[]")), Way::Warm));
        }
        match to.checked_sub(from) {
            None => return Err(Refusal::InvalidParams { reason: "bad_range" }),
            Some(span) if span >= limits.max_log_blocks => {
                return Err(Refusal::InvalidParams { reason: "range_too_long" });
            }
            Some(_) => {}
        }
        if let Some(blocks) = self.window.range(from, to) {
            let logs = select(filter, blocks.iter().map(|block| &**block), limits.max_answer_bytes)?;
            return Ok((Answer::Result(logs), Way::Warm));
        }
        let members = members_after(filter);
        let ask = |(from, to): (u64, u64), tier: Tier| {
            let params = format!("[{{\"fromBlock\":\"{from:#x}\",\"toBlock\":\"{to:#x}\"{members}}}]");
            self.read_pinned(known, Pinned { params: params.into(), tier: Some(tier), at: to }, head)
        };
        let mut stretches: Vec<_> = stretches(from, to, limits.log_chunk.max(1)).collect();
        let Some(last) = stretches.pop() else { return Err(BAD_FILTER) };
        if stretches.is_empty() {
            return ask(last, last_tier).await;
        }
        let tiers = std::iter::repeat_n(Tier::Final, stretches.len()).chain([last_tier]);
        let asked = stretches.into_iter().chain([last]).zip(tiers).map(|(stretch, tier)| ask(stretch, tier));
        let asked: Vec<_> = asked.collect();
        let answers: Vec<(Answer, Way)> = stream::iter(asked).buffered(PARALLEL).try_collect().await?;
        Ok((merge(answers, limits.max_answer_bytes)?, Way::Asked))
    }
}

/// The members of a filter after those that name its blocks.
fn members_after(filter: &LogFilter) -> String {
    let members = filter.members();
    if members.is_empty() { members } else { format!(",{members}") }
}

/// Stretches of at most so many blocks. They end at multiples of that, so that overlapping queries share most of them.
fn stretches(from: u64, to: u64, most: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut next = Some(from);
    std::iter::from_fn(move || {
        let start = next.filter(|start| *start <= to)?;
        let end = (start - start % most).saturating_add(most - 1).min(to);
        next = end.checked_add(1);
        Some((start, end))
    })
}

/// The matching logs of these blocks as a list.
fn select<'a>(
    filter: &LogFilter,
    blocks: impl IntoIterator<Item = &'a WarmBlock>,
    most: usize,
) -> Result<Bytes, Refusal> {
    let mut list = vec![b'['];
    let logs = blocks.into_iter().flat_map(|block| &block.logs).filter(|log| filter.matches(log));
    for log in logs {
        append(&mut list, &log.json, most)?;
    }
    list.push(b']');
    Ok(list.into())
}

/// One list out of several, without looking inside. An error of one is the answer.
fn merge(answers: Vec<(Answer, Way)>, most: usize) -> Result<Answer, Refusal> {
    let mut list = vec![b'['];
    for (answer, _) in answers {
        let json = match &answer {
            Answer::Result(json) => json,
            Answer::Error(_) => return Ok(answer),
        };
        let inside = json.strip_prefix(b"[").and_then(|json| json.strip_suffix(b"]"));
        let inside = inside.ok_or(Refusal::Unavailable { reason: "not_understood" })?.trim_ascii();
        if !inside.is_empty() {
            append(&mut list, inside, most)?;
        }
    }
    list.push(b']');
    Ok(Answer::Result(list.into()))
}

fn append(list: &mut Vec<u8>, json: &[u8], most: usize) -> Result<(), Refusal> {
    if list.len() > 1 {
        list.push(b',');
    }
    list.extend_from_slice(json);
    if list.len() > most { Err(Refusal::LongAnswer { most }) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_cover_the_range_once_and_end_at_multiples() {
        let cut = |from, to| stretches(from, to, 10).collect::<Vec<_>>();
        assert_eq!(cut(3, 3), [(3, 3)]);
        assert_eq!(cut(3, 9), [(3, 9)]);
        assert_eq!(cut(3, 25), [(3, 9), (10, 19), (20, 25)]);
        assert_eq!(cut(10, 19), [(10, 19)]);
        assert_eq!(cut(u64::MAX - 1, u64::MAX), [(u64::MAX - 1, u64::MAX)]);
    }

    #[test]
    fn lists_are_merged_as_bytes() {
        let list = |json: &'static str| (Answer::Result(json.into()), Way::Asked);
        let merged = merge(vec![list("[]"), list("[1,2]"), list("[ ]"), list("[3]")], 100);
        assert_eq!(merged, Ok(Answer::Result("[1,2,3]".into())));
        assert!(matches!(merge(vec![list("[1234567]")], 5), Err(Refusal::LongAnswer { most: 5 })));
        let error = Answer::Error("{}".into());
        assert_eq!(merge(vec![list("[1]"), (error.clone(), Way::Asked)], 100), Ok(error));
    }
}
