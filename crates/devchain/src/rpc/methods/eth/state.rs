//! Accounts, code and storage at a block, with proofs.

use alloy_primitives::{Address, B256, U256};
use serde::Deserialize;

use crate::rpc::{
    config::Group,
    error::{Param, RpcError},
    jsonrpc::{Answer, Params},
    methods::{Handler, Method, answered, block_param::BlockParam},
    service::{Done, Place, Service},
};

/// Slots that one proof may cover.
const MAX_PROVEN_SLOTS: usize = 1024;
/// Proofs of more are not made on an asynchronous thread.
const FEW_SLOTS: usize = 8;

pub(in crate::rpc::methods) const METHODS: &[Method] = &[
    Method::new(Group::Eth, "eth_getBalance", "Balance of an account", Handler::Read(balance)),
    Method::new(Group::Eth, "eth_getTransactionCount", "Nonce of an account", Handler::Read(nonce)),
    Method::new(Group::Eth, "eth_getCode", "Code of a contract", Handler::Read(code)),
    Method::new(Group::Eth, "eth_getStorageAt", "A storage slot", Handler::Read(storage)),
    Method::new(
        Group::Eth,
        "eth_getProof",
        "Merkle proof of an account and its storage",
        Handler::Weighed(proof),
    ),
];

fn balance(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let params = params.split()?;
    let address = params.required::<Address>(0, Param::Address)?;
    let account = service.at(service.block_param(&params, 1)?)?.state().account(address)?;
    out.json(&account.map_or(U256::ZERO, |account| account.balance))
}

/// With `pending` the nonce after everything of the sender that waits in the pool.
fn nonce(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let params = params.split()?;
    let address = params.required::<Address>(0, Param::Address)?;
    let block = service.block_param(&params, 1)?;
    let mined = service.at(block)?.state().account(address)?.map_or(0, |account| account.nonce);
    let pooled = match block {
        BlockParam::Pending => service.chain().pool().pending_nonce(address),
        BlockParam::Latest | BlockParam::Number(_) | BlockParam::Hash(_) => None,
    };
    out.quantity(pooled.map_or(mined, |pooled| pooled.max(mined)));
    Ok(())
}

fn code(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let params = params.split()?;
    let address = params.required::<Address>(0, Param::Address)?;
    let at = service.at(service.block_param(&params, 1)?)?;
    match at.state().account(address)? {
        Some(account) => out.json(&at.state().code(account.code_hash)?),
        None => {
            out.text("\"0x\"");
            Ok(())
        }
    }
}

fn storage(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    let params = params.split()?;
    let address = params.required::<Address>(0, Param::Address)?;
    let slot = params.required::<U256>(1, Param::Position)?;
    let at = service.at(service.block_param(&params, 2)?)?;
    out.json(&B256::from(at.state().storage(address, slot)?))
}

/// A storage key as tools write it: 32 bytes or a quantity.
#[derive(Deserialize)]
struct Slot(U256);

fn proof(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    let params = params.split()?;
    let address = params.required::<Address>(0, Param::Address)?;
    let slots = params.optional::<Vec<Slot>>(1, Param::StorageKeys)?.unwrap_or_default();
    if slots.len() > MAX_PROVEN_SLOTS {
        return Err(RpcError::InvalidParams(Param::StorageKeys));
    }
    if place.is_inline() && slots.len() > FEW_SLOTS {
        return Ok(Done::NotHere);
    }
    let slots: Vec<B256> = slots.into_iter().map(|Slot(slot)| B256::from(slot)).collect();
    let at = service.at(service.block_param(&params, 2)?)?;
    answered(out.json(&at.state().prove(address, &slots)?))
}
