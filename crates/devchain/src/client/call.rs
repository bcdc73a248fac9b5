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
    exec::{self, CallContext, CallKey, CallOutcome, ExecError, INLINE_GAS, Interrupt},
    rpc::RpcError,
};

impl EmbeddedClient {
    /// Runs a call: in place, because a thread hop costs more than a small call, unless it turns out or is known to be long.
    pub(super) async fn run_call(&self, to: Address, input: Bytes, at: At) -> Result<Bytes, ChainError> {
        let moment = self.moment(at)?;
        let key = CallKey::new(to, &input);
        let request =
            TransactionRequest { to: Some(TxKind::Call(to)), input: input.into(), ..Default::default() };
        if !self.costs.is_slow(&key) {
            let briefly = Interrupt::after_gas(INLINE_GAS);
            match execute(&self.chain, &moment, &request, self.gas_cap, &briefly) {
                Err(ExecError::Interrupted(_)) => self.costs.note(key, u64::MAX),
                outcome => return output(outcome.map_err(not_executed)?),
            }
        }
        let outcome = self.run_elsewhere(moment, request).await?;
        self.costs.note(key, outcome.gas_used());
        output(outcome)
    }

    /// Runs creation code. What it costs is not known beforehand, so it is never run in place.
    pub(super) async fn run_creation(&self, init: Bytes, at: At) -> Result<Bytes, ChainError> {
        let moment = self.moment(at)?;
        let request =
            TransactionRequest { to: Some(TxKind::Create), input: init.into(), ..Default::default() };
        output(self.run_elsewhere(moment, request).await?)
    }

    async fn run_elsewhere(
        &self,
        moment: Moment,
        request: TransactionRequest,
    ) -> Result<CallOutcome, ChainError> {
        let (chain, gas_cap) = (Arc::clone(&self.chain), self.gas_cap);
        let work = move |interrupt: &Interrupt| execute(&chain, &moment, &request, gas_cap, interrupt);
        self.elsewhere(work).await?.map_err(not_executed)
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
    interrupt: &Interrupt,
) -> Result<CallOutcome, ExecError> {
    let context = CallContext {
        spec: chain.spec(),
        state: moment.state(),
        hashes: &chain.block_hashes(),
        header: moment.header(),
        gas_cap,
        interrupt,
    };
    exec::call(context, request, None, None)
}
