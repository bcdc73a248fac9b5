//! Calls of contracts, run where they hold nobody up.

use std::sync::Arc;

use ::chain::{At, ChainError};
use alloy_primitives::{Address, Bytes, TxKind};
use alloy_rpc_types_eth::TransactionRequest;

use super::{
    EmbeddedClient,
    failure::{not_executed, refused},
};
use crate::{
    chain::{Chain, Moment},
    exec::{self, CallContext, CallKey, CallOutcome, ExecError},
    rpc::RpcError,
};

impl EmbeddedClient {
    /// Runs a call: in place, because a thread hop costs more than a small call, unless this one has been slow before.
    pub(super) async fn run_call(&self, to: Address, input: Bytes, at: At) -> Result<Bytes, ChainError> {
        let moment = self.moment(at)?;
        let key = CallKey::new(to, &input);
        let request =
            TransactionRequest { to: Some(TxKind::Call(to)), input: input.into(), ..Default::default() };
        let outcome = if self.costs.is_slow(&key) {
            let (chain, gas_cap) = (Arc::clone(&self.chain), self.gas_cap);
            self.elsewhere(move || execute(&chain, &moment, &request, gas_cap)).await?
        } else {
            execute(&self.chain, &moment, &request, self.gas_cap)
        };
        let outcome = outcome.map_err(not_executed)?;
        self.costs.note(key, outcome.gas_used());
        output(outcome)
    }

    /// Runs creation code. What it costs is not known beforehand, so it is never run in place.
    pub(super) async fn run_creation(&self, init: Bytes, at: At) -> Result<Bytes, ChainError> {
        let moment = self.moment(at)?;
        let request =
            TransactionRequest { to: Some(TxKind::Create), input: init.into(), ..Default::default() };
        let (chain, gas_cap) = (Arc::clone(&self.chain), self.gas_cap);
        let outcome = self.elsewhere(move || execute(&chain, &moment, &request, gas_cap)).await?;
        output(outcome.map_err(not_executed)?)
    }
}

fn output(outcome: CallOutcome) -> Result<Bytes, ChainError> {
    match outcome {
        CallOutcome::Success { output, .. } => Ok(output),
        CallOutcome::Revert { output, .. } => Err(ChainError::Reverted { output }),
        CallOutcome::Halt { .. } => Err(refused(&RpcError::Halted)),
    }
}

fn execute(
    chain: &Chain,
    moment: &Moment,
    request: &TransactionRequest,
    gas_cap: u64,
) -> Result<CallOutcome, ExecError> {
    let context = CallContext {
        spec: chain.spec(),
        state: moment.state(),
        hashes: &chain.block_hashes(),
        header: moment.header(),
        gas_cap,
    };
    exec::call(context, request, None, None)
}
