//! Filters: installed, polled, removed.

use alloy_primitives::B256;
use alloy_rpc_types_eth::Filter;

use super::logs::{is_long, search, write_logs};
use crate::rpc::{
    config::Group,
    error::{Param, RpcError},
    filters::Collecting,
    jsonrpc::{Answer, Params},
    methods::{Handler, Method, answered, quantity::Number},
    service::{Done, Place, Service},
};

pub(in crate::rpc::methods) const METHODS: &[Method] = &[
    Method::new(Group::Eth, "eth_newFilter", "Installs a log filter", Handler::Read(new_filter)),
    Method::new(
        Group::Eth,
        "eth_newBlockFilter",
        "Installs a filter of blocks",
        Handler::Read(new_block_filter),
    ),
    Method::new(
        Group::Eth,
        "eth_newPendingTransactionFilter",
        "Installs a filter of pooled transactions",
        Handler::Read(new_pending_filter),
    ),
    Method::new(
        Group::Eth,
        "eth_getFilterChanges",
        "What came since the last poll",
        Handler::Weighed(changes),
    ),
    Method::new(
        Group::Eth,
        "eth_getFilterLogs",
        "All logs of an installed filter",
        Handler::Weighed(filter_logs),
    ),
    Method::new(Group::Eth, "eth_uninstallFilter", "Removes a filter", Handler::Read(uninstall)),
];

fn install(service: &Service, collecting: Collecting, out: &mut Answer) -> Result<(), RpcError> {
    let id = service.feed.next_id();
    service.filters.install(id, collecting)?;
    out.quantity(id);
    Ok(())
}

fn next_block(service: &Service) -> u64 {
    service.chain().head().block.number() + 1
}

fn new_filter(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let filter = params.split()?.optional::<Filter>(0, Param::Filter)?.unwrap_or_default();
    install(service, Collecting::Logs { filter: Box::new(filter), next: next_block(service) }, out)
}

fn new_block_filter(service: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    install(service, Collecting::Blocks { next: next_block(service) }, out)
}

fn new_pending_filter(service: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    install(service, Collecting::Pending { seen: service.feed.pending_seen() }, out)
}

fn filter_id(params: Params<'_>) -> Result<u64, RpcError> {
    params.split()?.required::<Number>(0, Param::FilterId).map(|id| id.0)
}

fn changes(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    let id = filter_id(params)?;
    let end = next_block(service);
    match service.filters.poll(id)? {
        Collecting::Logs { filter, next } => {
            // After `evm_revert` the chain may be shorter than the filter has seen.
            let (from, to) = span(next, end, service.config.limits.max_log_range);
            if is_long(from, to, place) {
                return Ok(Done::NotHere);
            }
            let found =
                if from < to { search(service, &filter, from, to - 1, place)? } else { Some(Vec::new()) };
            let Some(found) = found else {
                return Ok(Done::NotHere);
            };
            service.filters.advance(id, Collecting::Logs { filter, next: to });
            answered(out.json(&found))
        }
        Collecting::Blocks { next } => {
            let (from, to) = span(next, end, service.config.limits.max_log_range);
            let hashes: Vec<B256> = (from..to)
                .filter_map(|number| service.chain().store().hash_of(number).transpose())
                .collect::<Result<_, _>>()?;
            service.filters.advance(id, Collecting::Blocks { next: to });
            answered(out.json(&hashes))
        }
        Collecting::Pending { seen } => {
            let (hashes, seen) = service.feed.pending_since(seen);
            service.filters.advance(id, Collecting::Pending { seen });
            answered(out.json(&hashes))
        }
    }
}

/// The blocks of a poll, the end not included: a long absence is caught up with over several polls.
fn span(next: u64, end: u64, most: u64) -> (u64, u64) {
    let from = next.min(end);
    (from, end.min(from.saturating_add(most)))
}

fn filter_logs(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    match service.filters.poll(filter_id(params)?)? {
        Collecting::Logs { filter, .. } => write_logs(service, &filter, out, place),
        Collecting::Blocks { .. } | Collecting::Pending { .. } => Err(RpcError::FilterNotFound),
    }
}

fn uninstall(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.json(&service.filters.uninstall(filter_id(params)?))
}
