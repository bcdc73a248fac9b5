//! `eth_getLogs`, and the search that filters use too.

use alloy_rpc_types_eth::{BlockNumberOrTag, Filter, FilterBlockOption, Log as LogView};

use crate::rpc::{
    config::Group,
    error::{Param, RpcError},
    jsonrpc::{Answer, Params},
    methods::{Handler, INLINE_BLOCK_GAS, Method, answered},
    service::{Done, Place, Service},
    wire,
};

/// Longer searches are not made on an asynchronous thread.
const SHORT_RANGE: u64 = 8;

pub(in crate::rpc::methods) const METHODS: &[Method] =
    &[Method::new(Group::Eth, "eth_getLogs", "Logs that match a filter", Handler::Weighed(get_logs))];

fn get_logs(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    let filter: Filter = params.split()?.required(0, Param::Filter)?;
    write_logs(service, &filter, out, place)
}

/// Writes what a filter finds in the blocks it names.
pub(super) fn write_logs(
    service: &Service,
    filter: &Filter,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    let (from, to) = range(service, filter)?;
    if is_long(from, to, place) {
        return Ok(Done::NotHere);
    }
    match search(service, filter, from, to, place)? {
        Some(logs) => answered(out.json(&logs)),
        None => Ok(Done::NotHere),
    }
}

/// Whether searching these blocks takes too long to be done here.
pub(super) fn is_long(from: u64, to: u64, place: Place<'_>) -> bool {
    place.is_inline() && to.saturating_sub(from) >= SHORT_RANGE
}

/// The blocks that a filter names, both included.
fn range(service: &Service, filter: &Filter) -> Result<(u64, u64), RpcError> {
    let head = service.chain().head().block.number();
    match filter.block_option {
        FilterBlockOption::AtBlockHash(hash) => {
            let number = service.chain().store().number_of(hash)?.ok_or(RpcError::BlockNotFound)?;
            Ok((number, number))
        }
        FilterBlockOption::Range { from_block, to_block } => {
            let from = number(from_block, head);
            let to = number(to_block, head);
            if from > to {
                return Err(RpcError::InvalidParams(Param::Any));
            }
            if to - from > service.config.limits.max_log_range {
                return Err(RpcError::RangeTooLarge);
            }
            Ok((from, to))
        }
    }
}

fn number(block: Option<BlockNumberOrTag>, head: u64) -> u64 {
    match block {
        Some(BlockNumberOrTag::Number(number)) => number,
        Some(BlockNumberOrTag::Earliest) => 0,
        Some(
            BlockNumberOrTag::Latest
            | BlockNumberOrTag::Pending
            | BlockNumberOrTag::Safe
            | BlockNumberOrTag::Finalized,
        )
        | None => head,
    }
}

/// The matching logs of these blocks; nothing if that takes too long here. Blocks are opened only if their header's bloom
/// says that it may help.
pub(super) fn search(
    service: &Service,
    filter: &Filter,
    from: u64,
    to: u64,
    place: Place<'_>,
) -> Result<Option<Vec<LogView>>, RpcError> {
    let most = service.config.limits.max_logs;
    let store = service.chain().store();
    let to = to.min(service.chain().head().block.number());
    let mut found = Vec::new();
    if from > to {
        return Ok(Some(found));
    }
    let mut gas = 0;
    for header in store.headers(from..=to) {
        place.check()?;
        let header = header?;
        if !filter.matches_bloom(header.logs_bloom) {
            continue;
        }
        gas += header.gas_used;
        if place.is_inline() && gas > INLINE_BLOCK_GAS {
            return Ok(None);
        }
        let block = store.block(header.number)?.ok_or(RpcError::BlockNotFound)?;
        let receipts = store.receipts(header.number)?.ok_or(RpcError::BlockNotFound)?;
        found.extend(wire::block_logs(&block, &receipts).filter(|log| filter.matches(&log.inner)));
        if found.len() > most {
            return Err(RpcError::TooManyLogs(most));
        }
    }
    Ok(Some(found))
}
