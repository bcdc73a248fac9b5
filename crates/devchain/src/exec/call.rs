//! Simulated calls: what a transaction would do, without signature, nonce or block gas.

use alloy_consensus::Header;
use alloy_primitives::{Bytes, Log, TxKind, U256};
use alloy_rpc_types_eth::{BlockOverrides, TransactionRequest, state::StateOverride};
use revm::{
    ExecuteEvm,
    context::{
        TxEnv,
        result::{ExecutionResult, HaltReason},
    },
};

use super::{
    BlockHashes, ChainSpec, ExecError, Interrupt, RejectReason,
    env::{self, OverlayEvm},
    error::RunError,
    interrupt::Meter,
    overlay::Overlay,
    overrides,
};
use crate::state::StateView;

/// The moment in the chain's life that a simulation happens at.
#[derive(Clone, Copy)]
pub struct CallContext<'a> {
    /// The chain's rules.
    pub spec: &'a ChainSpec,
    /// State that the call starts from.
    pub state: &'a StateView,
    /// For the BLOCKHASH opcode.
    pub hashes: &'a dyn BlockHashes,
    /// Block that the call believes to be in.
    pub header: &'a Header,
    /// Highest gas limit given to a call, whatever it asks for.
    pub gas_cap: u64,
    /// What ends it before it is done.
    pub interrupt: &'a Interrupt,
}

/// How a simulated call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CallOutcome {
    /// It returned.
    Success {
        /// What it returned; the new contract's code for a creation.
        output: Bytes,
        /// Gas used after refunds.
        gas_used: u64,
        /// Logs it emitted.
        logs: Vec<Log>,
    },
    /// It reverted.
    Revert {
        /// The revert data.
        output: Bytes,
        /// Gas used.
        gas_used: u64,
    },
    /// It was stopped, losing all its gas.
    Halt {
        /// Why it was stopped.
        reason: HaltReason,
        /// Gas used.
        gas_used: u64,
    },
}

impl CallOutcome {
    /// Gas used after refunds.
    pub fn gas_used(&self) -> u64 {
        match self {
            Self::Success { gas_used, .. } | Self::Revert { gas_used, .. } | Self::Halt { gas_used, .. } => {
                *gas_used
            }
        }
    }
}

impl From<ExecutionResult> for CallOutcome {
    fn from(result: ExecutionResult) -> Self {
        let gas_used = result.tx_gas_used();
        match result {
            ExecutionResult::Success { output, logs, .. } => {
                Self::Success { output: output.into_data(), gas_used, logs }
            }
            ExecutionResult::Revert { output, .. } => Self::Revert { output, gas_used },
            ExecutionResult::Halt { reason, .. } => Self::Halt { reason, gas_used },
        }
    }
}

/// Simulates a call. Without a gas price fees are ignored; the value must be covered in any case.
pub fn call(
    ctx: CallContext<'_>,
    request: &TransactionRequest,
    overrides: Option<&StateOverride>,
    block_overrides: Option<&BlockOverrides>,
) -> Result<CallOutcome, ExecError> {
    let mut simulation = Simulation::new(ctx, request, overrides, block_overrides, ())?;
    let gas = request.gas.unwrap_or(ctx.gas_cap).min(ctx.gas_cap);
    Ok(simulation.run(gas)?.into())
}

/// A call ready to be run, as often as needed, each time from the same state.
pub(super) struct Simulation<'a, I = ()> {
    pub(super) evm: OverlayEvm<'a, I>,
    pub(super) tx: TxEnv,
}

impl<'a, I> Simulation<'a, I> {
    pub(super) fn new(
        ctx: CallContext<'a>,
        request: &TransactionRequest,
        overrides: Option<&StateOverride>,
        block_overrides: Option<&BlockOverrides>,
        inspector: I,
    ) -> Result<Self, ExecError> {
        let (mut block, fork) = overrides::block(ctx.spec, ctx.header, block_overrides);
        let tx = request_env(ctx.spec, request, block.basefee)?;
        let mut rules = env::rules(ctx.spec, fork);
        rules.disable_nonce_check = true;
        rules.disable_eip3607 = true;
        rules.disable_block_gas_limit = true;
        if tx.gas_price == 0 {
            rules.disable_base_fee = true;
            block.basefee = 0;
        }
        let mut overlay = Overlay::new(ctx.state, ctx.hashes);
        if let Some(overrides) = overrides {
            overrides::apply_accounts(&mut overlay, overrides)?;
        }
        if let Some(hashes) = block_overrides.and_then(|overrides| overrides.block_hash.clone()) {
            overlay.override_hashes(hashes);
        }
        Ok(Self { evm: env::evm(rules, block, overlay, Meter::new(ctx.interrupt), inspector), tx })
    }

    /// Runs the call with this gas limit.
    pub(super) fn run(&mut self, gas_limit: u64) -> Result<ExecutionResult, ExecError> {
        self.tx.gas_limit = gas_limit;
        let run = self.evm.transact(self.tx.clone());
        let result = run.map(|outcome| outcome.result).map_err(|error| self.explain(error.into()))?;
        self.evm.ctx.chain.end_run(result.gas().total_gas_spent());
        Ok(result)
    }

    /// Why a run failed. One that was interrupted says so, whatever the interpreter made of it.
    pub(super) fn explain(&self, error: RunError) -> ExecError {
        if let Some(interruption) = self.evm.ctx.chain.interruption() {
            return interruption.into();
        }
        match error {
            RunError::Fatal(error) => error,
            RunError::Refused(refusal) => {
                let block = &self.evm.ctx.block;
                RejectReason::new(refusal, self.tx.gas_limit, block.gas_limit, block.basefee).into()
            }
        }
    }
}

fn request_env(spec: &ChainSpec, request: &TransactionRequest, base_fee: u64) -> Result<TxEnv, ExecError> {
    let dynamic_fee = request.max_fee_per_gas.is_some() || request.max_priority_fee_per_gas.is_some();
    if dynamic_fee && request.gas_price.is_some() {
        return Err(ExecError::ConflictingFees);
    }
    let priority = request.max_priority_fee_per_gas.unwrap_or_default();
    let gas_price = if dynamic_fee {
        request.max_fee_per_gas.unwrap_or_else(|| priority.saturating_add(base_fee.into()))
    } else {
        request.gas_price.unwrap_or_default()
    };
    Ok(TxEnv {
        tx_type: match (dynamic_fee, &request.access_list) {
            (true, _) => 2,
            (false, Some(_)) => 1,
            (false, None) => 0,
        },
        caller: request.from.unwrap_or_default(),
        gas_limit: 0,
        gas_price,
        kind: request.to.unwrap_or(TxKind::Create),
        value: request.value.unwrap_or(U256::ZERO),
        data: request.input.input().cloned().unwrap_or_default(),
        nonce: 0,
        chain_id: Some(request.chain_id.unwrap_or(spec.chain_id)),
        access_list: request.access_list.clone().unwrap_or_default(),
        gas_priority_fee: dynamic_fee.then_some(priority),
        blob_hashes: Vec::new(),
        max_fee_per_blob_gas: 0,
        authorization_list: Vec::new(),
    })
}
