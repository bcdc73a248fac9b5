//! Blocks, their receipts and what Besu says of their miner.

use alloy_primitives::{B256, U256};
use serde::Serialize;

use crate::{
    block::Block,
    rpc::{
        config::Group,
        error::{Param, RpcError},
        jsonrpc::{Answer, Params, Positional},
        methods::{Handler, Method, answered, block_param::BlockParam},
        service::{Done, Place, Service},
        wire,
    },
};

/// Blocks with more transactions are not rendered on an asynchronous thread.
const MANY_TRANSACTIONS: usize = 500;

pub(in crate::rpc::methods) const METHODS: &[Method] = &[
    Method::new(Group::Eth, "eth_blockNumber", "Number of the newest block", Handler::Read(block_number)),
    Method::new(Group::Eth, "eth_getBlockByNumber", "A block by number or tag", Handler::Weighed(by_number)),
    Method::new(Group::Eth, "eth_getBlockByHash", "A block by hash", Handler::Weighed(by_hash)),
    Method::new(Group::Eth, "eth_getBlockReceipts", "All receipts of a block", Handler::Weighed(receipts)),
    Method::new(
        Group::Eth,
        "eth_getBlockTransactionCountByNumber",
        "How many transactions a block has",
        Handler::Read(count_by_number),
    ),
    Method::new(
        Group::Eth,
        "eth_getBlockTransactionCountByHash",
        "How many transactions a block has",
        Handler::Read(count_by_hash),
    ),
    Method::new(
        Group::Eth,
        "eth_getMinerDataByBlockNumber",
        "Proposer and fees of a block",
        Handler::Read(miner_by_number),
    ),
    Method::new(
        Group::Eth,
        "eth_getMinerDataByBlockHash",
        "Proposer and fees of a block",
        Handler::Read(miner_by_hash),
    ),
    Method::new(Group::Eth, "eth_getUncleCountByBlockNumber", "Always 0x0", Handler::Read(uncles_by_number)),
    Method::new(Group::Eth, "eth_getUncleCountByBlockHash", "Always 0x0", Handler::Read(uncles_by_hash)),
    Method::new(Group::Eth, "eth_getUncleByBlockNumberAndIndex", "Always null", Handler::Read(no_uncle)),
    Method::new(Group::Eth, "eth_getUncleByBlockHashAndIndex", "Always null", Handler::Read(no_uncle)),
];

fn block_number(service: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.quantity(service.chain().head().block.number());
    Ok(())
}

/// The block at the first position, named by number or tag.
pub(in crate::rpc::methods) fn numbered(params: &Positional<'_>) -> Result<BlockParam, RpcError> {
    params.required(0, Param::BlockNumber)
}

/// The block at the first position, named by hash.
pub(in crate::rpc::methods) fn hashed(params: &Positional<'_>) -> Result<BlockParam, RpcError> {
    params.required::<B256>(0, Param::BlockHash).map(BlockParam::Hash)
}

fn by_number(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    let params = params.split()?;
    block(service, numbered(&params)?, &params, out, place)
}

fn by_hash(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    let params = params.split()?;
    block(service, hashed(&params)?, &params, out, place)
}

fn block(
    service: &Service,
    which: BlockParam,
    params: &Positional<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    let full = params.optional(1, Param::FullTransactions)?.unwrap_or(false);
    let Some(block) = service.find_block(which)? else {
        out.text("null");
        return Ok(Done::Answered);
    };
    if let Some(rendered) = service.blocks.get(block.hash, full) {
        out.shared(rendered);
        return Ok(Done::Answered);
    }
    if is_too_big_for(place, &block) {
        return Ok(Done::NotHere);
    }
    out.shared(service.blocks.render(&block, full).map_err(|error| RpcError::internal(&error))?);
    Ok(Done::Answered)
}

fn is_too_big_for(place: Place<'_>, block: &Block) -> bool {
    place.is_inline() && block.transactions.len() > MANY_TRANSACTIONS
}

fn receipts(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    let params = params.split()?;
    let Some(block) = service.find_block(params.required(0, Param::BlockNumber)?)? else {
        out.text("null");
        return Ok(Done::Answered);
    };
    if is_too_big_for(place, &block) {
        return Ok(Done::NotHere);
    }
    let receipts = service.chain().store().receipts(block.number())?.ok_or(RpcError::BlockNotFound)?;
    answered(out.json(&wire::receipt_views(&block, &receipts).collect::<Vec<_>>()))
}

fn count_by_number(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    count(service, numbered(&params.split()?)?, out)
}

fn count_by_hash(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    count(service, hashed(&params.split()?)?, out)
}

fn count(service: &Service, which: BlockParam, out: &mut Answer) -> Result<(), RpcError> {
    match service.find_block(which)? {
        Some(block) => out.quantity(block.transactions.len() as u64),
        None => out.text("null"),
    }
    Ok(())
}

fn uncles_by_number(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    uncle_count(service, numbered(&params.split()?)?, out)
}

fn uncles_by_hash(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    uncle_count(service, hashed(&params.split()?)?, out)
}

fn uncle_count(service: &Service, which: BlockParam, out: &mut Answer) -> Result<(), RpcError> {
    out.text(if service.find_number(which)?.is_some() { "\"0x0\"" } else { "null" });
    Ok(())
}

fn no_uncle(_: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.text("null");
    Ok(())
}

/// Besu's account of what the proposer got.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MinerData {
    net_block_reward: U256,
    static_block_reward: U256,
    transaction_fee: U256,
    uncle_inclusion_reward: U256,
    uncle_rewards: [U256; 0],
    coinbase: alloy_primitives::Address,
    extra_data: alloy_primitives::Bytes,
    difficulty: U256,
    total_difficulty: U256,
}

fn miner_by_number(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    miner(service, numbered(&params.split()?)?, out)
}

fn miner_by_hash(service: &Service, params: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    miner(service, hashed(&params.split()?)?, out)
}

fn miner(service: &Service, which: BlockParam, out: &mut Answer) -> Result<(), RpcError> {
    use alloy_consensus::Transaction as _;

    let Some(block) = service.find_block(which)? else {
        out.text("null");
        return Ok(());
    };
    let receipts = service.chain().store().receipts(block.number())?.ok_or(RpcError::BlockNotFound)?;
    let base_fee = block.header.base_fee_per_gas;
    let transaction_fee =
        block.transactions.iter().zip(receipts.iter()).fold(U256::ZERO, |sum, (tx, receipt)| {
            let tip = tx.effective_gas_price(base_fee).saturating_sub(base_fee.unwrap_or(0).into());
            sum.saturating_add(U256::from(tip).saturating_mul(U256::from(receipt.gas_used)))
        });
    let reward = service.chain().spec().block_reward;
    out.json(&MinerData {
        net_block_reward: reward.saturating_add(transaction_fee),
        static_block_reward: reward,
        transaction_fee,
        uncle_inclusion_reward: U256::ZERO,
        uncle_rewards: [],
        coinbase: block.header.beneficiary,
        extra_data: block.header.extra_data.clone(),
        difficulty: block.header.difficulty,
        total_difficulty: U256::from(block.number()) + U256::from(1),
    })
}
