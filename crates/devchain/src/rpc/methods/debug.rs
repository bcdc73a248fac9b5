//! `debug_*`: traces and raw encodings.

use std::sync::Arc;

use alloy_eips::eip2718::Encodable2718;
use alloy_primitives::{B256, Bytes};
use alloy_rpc_types_eth::TransactionRequest;
use alloy_rpc_types_trace::geth::{GethDebugTracingCallOptions, GethDebugTracingOptions, GethTrace};
use serde::Serialize;

use super::{
    block_param::BlockParam,
    eth::{
        blocks::{hashed, numbered},
        simulation::Scene,
    },
};
use crate::{
    block::Block,
    exec::{self, Interrupt, TracedBlock},
    rpc::{
        config::Group,
        error::{Param, RpcError},
        jsonrpc::{Answer, Params, Positional},
        methods::{Handler, Method},
        service::Service,
        wire,
    },
};

pub(super) const METHODS: &[Method] = &[
    Method::new(
        Group::Debug,
        "debug_traceTransaction",
        "Trace of a mined transaction",
        Handler::Trace(trace_transaction),
    ),
    Method::new(Group::Debug, "debug_traceCall", "Trace of a call", Handler::Trace(trace_call)),
    Method::new(
        Group::Debug,
        "debug_traceBlockByNumber",
        "Traces of a block's transactions",
        Handler::Trace(trace_by_number),
    ),
    Method::new(
        Group::Debug,
        "debug_traceBlockByHash",
        "Traces of a block's transactions",
        Handler::Trace(trace_by_hash),
    ),
    Method::new(Group::Debug, "debug_getRawHeader", "RLP of a header", Handler::Read(raw_header)),
    Method::new(Group::Debug, "debug_getRawBlock", "RLP of a block", Handler::Read(raw_block)),
    Method::new(
        Group::Debug,
        "debug_getRawReceipts",
        "Encoded receipts of a block",
        Handler::Read(raw_receipts),
    ),
    Method::new(
        Group::Debug,
        "debug_getRawTransaction",
        "A transaction as it was signed",
        Handler::Read(raw_transaction),
    ),
];

fn options(params: &Positional<'_>) -> Result<GethDebugTracingOptions, RpcError> {
    Ok(params.optional(1, Param::Trace)?.unwrap_or_default())
}

/// Runs something on a block on top of its parent's state.
fn replay<T>(
    service: &Service,
    block: &Block,
    interrupt: &Interrupt,
    run: impl FnOnce(TracedBlock<'_>) -> T,
) -> Result<T, RpcError> {
    // Genesis has no parent, but no transactions either.
    let parent = block.number().saturating_sub(1);
    let parent = service.chain().store().header(parent)?.ok_or(RpcError::BlockNotFound)?;
    Ok(run(TracedBlock {
        spec: service.chain().spec(),
        parent_state: &service.chain().state_at(&parent),
        hashes: &service.chain().block_hashes(),
        header: &block.header,
        transactions: &block.transactions,
        interrupt,
    }))
}

fn trace_transaction(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    interrupt: &Interrupt,
) -> Result<(), RpcError> {
    let params = params.split()?;
    let hash: B256 = params.required(0, Param::TransactionHash)?;
    let options = options(&params)?;
    let found = service.chain().find_mined(hash)?.ok_or(RpcError::TransactionNotFound)?;
    let block = existing(service, BlockParam::Number(found.block))?;
    let trace = replay(service, &block, interrupt, |block| {
        exec::trace_transaction(block, found.index as usize, options)
    })??;
    out.json(&trace)
}

fn trace_call(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    interrupt: &Interrupt,
) -> Result<(), RpcError> {
    let params = params.split()?;
    let request: TransactionRequest = params.required(0, Param::Call)?;
    let options: GethDebugTracingCallOptions = params.optional(2, Param::Trace)?.unwrap_or_default();
    let scene = Scene::new(service, service.block_param(&params, 1)?)?;
    let trace = scene.play(service, interrupt, |context| exec::trace_call(context, &request, options))?;
    out.json(&trace)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct TransactionTrace {
    tx_hash: B256,
    result: GethTrace,
}

fn trace_by_number(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    interrupt: &Interrupt,
) -> Result<(), RpcError> {
    let params = params.split()?;
    trace_block(service, numbered(&params)?, &params, out, interrupt)
}

fn trace_by_hash(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    interrupt: &Interrupt,
) -> Result<(), RpcError> {
    let params = params.split()?;
    trace_block(service, hashed(&params)?, &params, out, interrupt)
}

fn trace_block(
    service: &Service,
    which: BlockParam,
    params: &Positional<'_>,
    out: &mut Answer,
    interrupt: &Interrupt,
) -> Result<(), RpcError> {
    let options = options(params)?;
    let block = existing(service, which)?;
    let traces = replay(service, &block, interrupt, |block| exec::trace_block(block, options))??;
    let hashes = block.transactions.iter().map(|transaction| *transaction.tx_hash());
    let traces = hashes.zip(traces).map(|(tx_hash, result)| TransactionTrace { tx_hash, result });
    out.json(&traces.collect::<Vec<_>>())
}

fn existing(service: &Service, which: BlockParam) -> Result<Arc<Block>, RpcError> {
    service.find_block(which)?.ok_or(RpcError::BlockNotFound)
}

fn named(service: &Service, params: Params<'_>) -> Result<Arc<Block>, RpcError> {
    existing(service, params.split()?.required(0, Param::BlockNumber)?)
}

fn raw_header(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.json(&Bytes::from(alloy_rlp::encode(&named(service, params)?.header)))
}

fn raw_block(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.json(&Bytes::from(named(service, params)?.encode()))
}

fn raw_receipts(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let block = named(service, params)?;
    let receipts = service.chain().store().receipts(block.number())?.ok_or(RpcError::BlockNotFound)?;
    let encoded = receipts.iter().map(|receipt| Bytes::from(wire::consensus_receipt(receipt).encoded_2718()));
    out.json(&encoded.collect::<Vec<_>>())
}

fn raw_transaction(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let hash: B256 = params.split()?.required(0, Param::TransactionHash)?;
    // In this order, because a transaction leaves the pool only after it was mined.
    let pooled = service.chain().pool().get(hash);
    let encoded = match service.chain().find_mined(hash)? {
        Some(found) => {
            let block = existing(service, BlockParam::Number(found.block))?;
            block.transactions.get(found.index as usize).map(|transaction| transaction.encoded_2718())
        }
        None => pooled.map(|transaction| transaction.encoded_2718()),
    };
    out.json(&Bytes::from(encoded.ok_or(RpcError::TransactionNotFound)?))
}
