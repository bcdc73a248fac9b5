//! The access list that a call would profit from.

use alloy_eips::eip2930::{AccessList, AccessListResult};
use alloy_primitives::U256;
use alloy_rpc_types_eth::TransactionRequest;
use revm::{InspectEvm, context::result::ExecutionResult};
use revm_inspectors::access_list::AccessListInspector;

use super::{CallContext, ExecError, call::Simulation, halt_words};

/// A list changes what GAS reads and thereby what a contract does; after this many rounds the last list is good enough.
const ROUNDS: usize = 8;

/// Collects what a call touches and tells the gas that the call uses with that list.
pub fn create_access_list(
    ctx: CallContext<'_>,
    request: &TransactionRequest,
) -> Result<AccessListResult, ExecError> {
    let mut list = request.access_list.clone().unwrap_or_default();
    let mut round = 1;
    loop {
        let (result, touched) = run(ctx, request, list.clone())?;
        if touched == list || round == ROUNDS {
            return Ok(AccessListResult {
                access_list: touched,
                gas_used: U256::from(result.tx_gas_used()),
                error: failure(&result),
            });
        }
        list = touched;
        round += 1;
    }
}

fn run(
    ctx: CallContext<'_>,
    request: &TransactionRequest,
    list: AccessList,
) -> Result<(ExecutionResult, AccessList), ExecError> {
    let request = TransactionRequest { access_list: Some(list.clone()), ..request.clone() };
    let inspector = AccessListInspector::new(list);
    let mut simulation = Simulation::new(ctx, &request, None, None, inspector)?;
    simulation.tx.gas_limit = request.gas.unwrap_or(ctx.gas_cap).min(ctx.gas_cap);
    let run = simulation.evm.inspect_one_tx(simulation.tx.clone());
    let result = run.map_err(|error| simulation.explain(error.into()))?;
    Ok((result, simulation.evm.inspector.into_access_list()))
}

fn failure(result: &ExecutionResult) -> Option<String> {
    match result {
        ExecutionResult::Success { .. } => None,
        ExecutionResult::Revert { .. } => Some("execution reverted".to_owned()),
        ExecutionResult::Halt { reason, .. } => Some(halt_words(reason).to_owned()),
    }
}
