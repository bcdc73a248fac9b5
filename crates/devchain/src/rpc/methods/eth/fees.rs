//! What transactions pay: suggestions, and the history of fees.

use alloy_consensus::Transaction as _;
use alloy_rpc_types_eth::FeeHistory;

use crate::{
    block::{Block, Receipt},
    chain::FeeSuggestion,
    exec::blob_gas_price,
    rpc::{
        config::Group,
        error::{Param, RpcError},
        jsonrpc::{Answer, Params},
        methods::{Handler, INLINE_BLOCK_GAS, Method, answered, quantity::Number},
        service::{Done, Place, Service},
    },
};

/// Longest history.
const MAX_HISTORY: u64 = 1024;
/// Longer histories are not read on an asynchronous thread.
const SHORT_HISTORY: u64 = 16;

pub(in crate::rpc::methods) const METHODS: &[Method] = &[
    Method::new(Group::Eth, "eth_gasPrice", "Suggested gas price", Handler::Weighed(gas_price)),
    Method::new(Group::Eth, "eth_maxPriorityFeePerGas", "Suggested tip", Handler::Weighed(priority_fee)),
    Method::new(
        Group::Eth,
        "eth_blobBaseFee",
        "Price of blob gas: zero where gas has no base fee",
        Handler::Read(blob_base_fee),
    ),
    Method::new(Group::Eth, "eth_feeHistory", "Base fees, use and tips of blocks", Handler::Weighed(history)),
];

/// The current suggestion, or nothing if finding it would take long.
fn suggestion(service: &Service, place: Place<'_>) -> Result<Option<FeeSuggestion>, RpcError> {
    match place {
        Place::Inline => Ok(service.fees.known(service.chain())),
        Place::Worker(_) => Ok(Some(service.fees.find(service.chain())?)),
    }
}

/// A chain without base fee takes transactions for the least price that its pool takes, so that is what it suggests.
fn gas_price(service: &Service, _: Params<'_>, out: &mut Answer, place: Place<'_>) -> Result<Done, RpcError> {
    if service.chain().spec().zero_base_fee {
        return answered(out.json(&alloy_primitives::U128::from(service.chain().min_gas_price())));
    }
    match suggestion(service, place)? {
        Some(suggestion) => answered(out.json(&alloy_primitives::U128::from(suggestion.gas_price))),
        None => Ok(Done::NotHere),
    }
}

fn priority_fee(
    service: &Service,
    _: Params<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    match suggestion(service, place)? {
        Some(suggestion) => answered(out.json(&alloy_primitives::U128::from(suggestion.priority_fee))),
        None => Ok(Done::NotHere),
    }
}

fn blob_base_fee(service: &Service, _: Params<'_>, out: &mut Answer) -> Result<(), RpcError> {
    out.json(&alloy_primitives::U128::from(blob_gas_price(&service.chain().pending_header())))
}

fn history(
    service: &Service,
    params: Params<'_>,
    out: &mut Answer,
    place: Place<'_>,
) -> Result<Done, RpcError> {
    let params = params.split()?;
    let Number(count) = params.required(0, Param::BlockCount)?;
    let percentiles = params.optional::<Vec<f64>>(2, Param::Percentiles)?;
    if !(1..=MAX_HISTORY).contains(&count) {
        return Err(RpcError::InvalidParams(Param::BlockCount));
    }
    if !percentiles.as_deref().is_none_or(are_percentiles) {
        return Err(RpcError::InvalidParams(Param::Percentiles));
    }
    if place.is_inline() && count > SHORT_HISTORY {
        return Ok(Done::NotHere);
    }
    let newest = service.find_number(service.block_param(&params, 1)?)?.ok_or(RpcError::BlockNotFound)?;
    let oldest = (newest + 1).saturating_sub(count);
    let mut history = FeeHistory { oldest_block: oldest, ..FeeHistory::default() };
    let mut rewards = percentiles.as_ref().map(|_| Vec::new());
    let store = service.chain().store();
    let mut gas = 0;
    for number in oldest..=newest {
        place.check()?;
        let header = store.header(number)?.ok_or(RpcError::BlockNotFound)?;
        history.base_fee_per_gas.push(header.base_fee_per_gas.unwrap_or(0).into());
        history.base_fee_per_blob_gas.push(blob_gas_price(&header));
        // Headers count no blob gas.
        history.blob_gas_used_ratio.push(0.0);
        history.gas_used_ratio.push(header.gas_used as f64 / header.gas_limit.max(1) as f64);
        if let (Some(rewards), Some(percentiles)) = (&mut rewards, &percentiles) {
            gas += header.gas_used;
            if place.is_inline() && gas > INLINE_BLOCK_GAS {
                return Ok(Done::NotHere);
            }
            let block = store.block(number)?.ok_or(RpcError::BlockNotFound)?;
            let receipts = store.receipts(number)?.ok_or(RpcError::BlockNotFound)?;
            // Wallets offer what they see here: not less than is taken now, also of blocks that were empty or cheaper.
            let least = service.chain().min_tip(block.header.base_fee_per_gas.unwrap_or(0).into());
            let tips = tips_at(&block, &receipts, percentiles);
            rewards.push(tips.into_iter().map(|tip| tip.max(least)).collect());
        }
    }
    let next = match store.header(newest + 1)? {
        Some(header) => header,
        None => service.chain().pending_header(),
    };
    history.base_fee_per_gas.push(next.base_fee_per_gas.unwrap_or(0).into());
    history.base_fee_per_blob_gas.push(blob_gas_price(&next));
    history.reward = rewards;
    answered(out.json(&history))
}

fn are_percentiles(values: &[f64]) -> bool {
    values.len() <= 100 && values.iter().all(|value| (0.0..=100.0).contains(value)) && values.is_sorted()
}

/// The tips at these percentiles of the block's gas, each transaction weighing what it used.
fn tips_at(block: &Block, receipts: &[Receipt], percentiles: &[f64]) -> Vec<u128> {
    let base_fee = block.header.base_fee_per_gas;
    let mut tips: Vec<(u128, u64)> = block
        .transactions
        .iter()
        .zip(receipts)
        .map(|(tx, receipt)| {
            let price = tx.effective_gas_price(base_fee);
            (price.saturating_sub(base_fee.unwrap_or(0).into()), receipt.gas_used)
        })
        .collect();
    tips.sort_unstable();
    let total = block.header.gas_used as f64;
    percentiles
        .iter()
        .map(|percentile| {
            let threshold = total * percentile / 100.0;
            let mut used = 0.0;
            let at = tips.iter().find(|(_, gas)| {
                used += *gas as f64;
                used >= threshold
            });
            at.or(tips.last()).map_or(0, |(tip, _)| *tip)
        })
        .collect()
}
