//! The smallest gas limit that a call succeeds with.

use alloy_primitives::{KECCAK256_EMPTY, TxKind, U256};
use alloy_rpc_types_eth::{TransactionRequest, state::StateOverride};
use revm::{
    Database,
    context::result::{ExecutionResult, HaltReason},
};

use super::{CallContext, EstimateError, ExecError, RejectReason, call::Simulation};

const TRANSFER_GAS: u64 = 21_000;
/// What a call with value passes on for free, which the gas used does not show.
const CALL_STIPEND: u64 = 2_300;

/// Finds the smallest gas limit that lets the call succeed, up to the request's own, the block's and the cap.
pub fn estimate_gas(
    ctx: CallContext<'_>,
    request: &TransactionRequest,
    overrides: Option<&StateOverride>,
) -> Result<u64, EstimateError> {
    let mut simulation = Simulation::new(ctx, request, overrides, None, ())?;
    let wanted = request.gas.unwrap_or(ctx.header.gas_limit).min(ctx.gas_cap);
    let ceiling = wanted.min(affordable_gas(&mut simulation)?);
    if ceiling >= TRANSFER_GAS && is_transfer(&mut simulation)? && succeeds(&mut simulation, TRANSFER_GAS)? {
        return Ok(TRANSFER_GAS);
    }
    let (used, refunded) = match simulation.run(ceiling)? {
        ExecutionResult::Success { gas, .. } => (gas.tx_gas_used(), gas.final_refunded()),
        ExecutionResult::Revert { output, .. } => return Err(EstimateError::Revert { output }),
        ExecutionResult::Halt { reason: HaltReason::OutOfGas(_), .. } => {
            return Err(EstimateError::OutOfGas { allowance: ceiling });
        }
        ExecutionResult::Halt { reason, .. } => return Err(EstimateError::Halt { reason }),
    };
    search(&mut simulation, used, refunded, ceiling)
}

/// Halves the range between a limit known to fail and one known to work.
fn search(
    simulation: &mut Simulation<'_>,
    used: u64,
    refunded: u64,
    ceiling: u64,
) -> Result<u64, EstimateError> {
    let (mut fails, mut works) = (used.saturating_sub(1), ceiling);
    // EIP-150 keeps a 64th back at each call, so this guess nearly always works and leaves little to search.
    let guess = (used + refunded + CALL_STIPEND).saturating_mul(64) / 63;
    for probe in [used, guess] {
        if probe > fails && probe < works {
            if succeeds(simulation, probe)? {
                works = probe;
            } else {
                fails = probe;
            }
        }
    }
    while fails + 1 < works {
        let probe = fails + (works - fails) / 2;
        if succeeds(simulation, probe)? {
            works = probe;
        } else {
            fails = probe;
        }
    }
    Ok(works)
}

fn succeeds(simulation: &mut Simulation<'_>, gas_limit: u64) -> Result<bool, ExecError> {
    match simulation.run(gas_limit) {
        Ok(result) => Ok(result.is_success()),
        Err(ExecError::Rejected(RejectReason::IntrinsicGas { .. })) => Ok(false),
        Err(error) => Err(error),
    }
}

/// The gas that the sender can pay for at the price offered.
fn affordable_gas(simulation: &mut Simulation<'_>) -> Result<u64, ExecError> {
    let (price, value, caller) = (simulation.tx.gas_price, simulation.tx.value, simulation.tx.caller);
    if price == 0 {
        return Ok(u64::MAX);
    }
    let account = simulation.evm.ctx.journaled_state.database.basic(caller)?;
    let balance = account.map(|info| info.balance).unwrap_or_default();
    let Some(for_gas) = balance.checked_sub(value) else {
        return Err(RejectReason::InsufficientFunds { cost: value, balance }.into());
    };
    Ok((for_gas / U256::from(price)).saturating_to())
}

fn is_transfer(simulation: &mut Simulation<'_>) -> Result<bool, ExecError> {
    let TxKind::Call(to) = simulation.tx.kind else {
        return Ok(false);
    };
    if !simulation.tx.data.is_empty() || !simulation.tx.access_list.is_empty() {
        return Ok(false);
    }
    let account = simulation.evm.ctx.journaled_state.database.basic(to)?;
    Ok(account.is_none_or(|info| info.code_hash == KECCAK256_EMPTY))
}
