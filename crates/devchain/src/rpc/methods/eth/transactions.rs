//! Transactions: found, and sent.

use alloy_primitives::{B256, Bytes};

use super::blocks::{hashed, numbered};
use crate::rpc::{
    config::Group,
    error::{Param, RpcError},
    jsonrpc::{Answer, Params, Positional},
    methods::{Handler, Method, block_param::BlockParam, quantity::Number},
    service::Service,
    wire,
};

pub(in crate::rpc::methods) const METHODS: &[Method] = &[
    Method::new(
        Group::Eth,
        "eth_sendRawTransaction",
        "Puts a signed transaction into the pool",
        Handler::Read(send_raw),
    ),
    Method::new(Group::Eth, "eth_sendTransaction", "Refused: the node keeps no keys", Handler::Read(send)),
    Method::new(
        Group::Eth,
        "eth_getTransactionByHash",
        "A transaction, mined or pooled",
        Handler::Read(by_hash),
    ),
    Method::new(
        Group::Eth,
        "eth_getTransactionByBlockNumberAndIndex",
        "A transaction by its place",
        Handler::Read(by_number_and_index),
    ),
    Method::new(
        Group::Eth,
        "eth_getTransactionByBlockHashAndIndex",
        "A transaction by its place",
        Handler::Read(by_hash_and_index),
    ),
    Method::new(
        Group::Eth,
        "eth_getTransactionReceipt",
        "What a mined transaction did",
        Handler::Read(receipt),
    ),
];

fn send_raw(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let raw: Bytes = params.split()?.required(0, Param::RawTransaction)?;
    out.json(&service.chain().submit(&raw)?)
}

fn send(_: &Service, _: Params<'_>, _: &mut Answer) -> Result<(), RpcError> {
    Err(RpcError::NoAccounts)
}

fn by_hash(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let hash: B256 = params.split()?.required(0, Param::TransactionHash)?;
    // In this order, because a transaction leaves the pool only after it was mined.
    let pooled = service.chain().pool().get(hash);
    if let Some(place) = service.chain().find_mined(hash)? {
        return by_place(service, BlockParam::Number(place.block), u64::from(place.index), out);
    }
    match pooled {
        Some(transaction) => out.json(&wire::pending_transaction(&transaction)),
        None => {
            out.text("null");
            Ok(())
        }
    }
}

fn by_number_and_index(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let params = params.split()?;
    by_place(service, numbered(&params)?, index(&params)?, out)
}

fn by_hash_and_index(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let params = params.split()?;
    by_place(service, hashed(&params)?, index(&params)?, out)
}

fn index(params: &Positional<'_>) -> Result<u64, RpcError> {
    params.required::<Number>(1, Param::Index).map(|index| index.0)
}

fn by_place(service: &Service, which: BlockParam, index: u64, out: &mut Answer) -> Result<(), RpcError> {
    let block = service.find_block(which)?;
    let found = block.as_ref().and_then(|block| {
        let transaction = block.transactions.get(usize::try_from(index).ok()?)?;
        Some(wire::mined_transaction(block, index, transaction))
    });
    out.json(&found)
}

fn receipt(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let hash: B256 = params.split()?.required(0, Param::TransactionHash)?;
    let Some(place) = service.chain().find_mined(hash)? else {
        out.text("null");
        return Ok(());
    };
    let block = service.find_block(BlockParam::Number(place.block))?.ok_or(RpcError::BlockNotFound)?;
    let receipts = service.chain().store().receipts(place.block)?.ok_or(RpcError::BlockNotFound)?;
    out.json(&wire::receipt_view(&block, &receipts, place.index as usize))
}
