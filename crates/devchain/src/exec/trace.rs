//! Traces in geth's formats: of calls, of mined transactions and of whole blocks.

use std::sync::Arc;

use alloy_consensus::{Header, Transaction as _};
use alloy_rpc_types_eth::TransactionRequest;
use alloy_rpc_types_trace::geth::{GethDebugTracingCallOptions, GethDebugTracingOptions, GethTrace};
use revm::{
    DatabaseCommit, ExecuteCommitEvm, InspectEvm,
    context::{TxEnv, result::ResultAndState},
};
use revm_inspectors::tracing::{DebugInspector, DebugInspectorError, TransactionContext};

use super::{
    BlockHashes, CallContext, ChainSpec, ExecError, Interrupt, RejectReason, TraceError,
    bounded::Bounded,
    call::Simulation,
    env::{self, OverlayEvm},
    error::RunError,
    halt::step_words,
    interrupt::Meter,
    overlay::Overlay,
};
use crate::{block::Transaction, state::StateView};

/// A block to be traced, on top of its parent's state.
#[derive(Clone, Copy)]
pub struct TracedBlock<'a> {
    /// The chain's rules.
    pub spec: &'a ChainSpec,
    /// State of the parent.
    pub parent_state: &'a StateView,
    /// For the BLOCKHASH opcode.
    pub hashes: &'a dyn BlockHashes,
    /// The block's header.
    pub header: &'a Header,
    /// The block's transactions.
    pub transactions: &'a [Arc<Transaction>],
    /// What ends the tracing before it is done.
    pub interrupt: &'a Interrupt,
}

/// Traces a simulated call. The option `txIndex` is ignored: calls run on the state of `ctx`.
pub fn trace_call(
    ctx: CallContext<'_>,
    request: &TransactionRequest,
    options: GethDebugTracingCallOptions,
) -> Result<GethTrace, TraceError> {
    let GethDebugTracingCallOptions { tracing_options, state_overrides, block_overrides, tx_index: _ } =
        options;
    let inspector = inspector(tracing_options)?;
    let overrides = (state_overrides.as_ref(), block_overrides.as_ref());
    let mut simulation = Simulation::new(ctx, request, overrides.0, overrides.1, inspector)?;
    simulation.tx.gas_limit = request.gas.unwrap_or(ctx.gas_cap).min(ctx.gas_cap);
    let run = simulation.evm.inspect_tx(simulation.tx.clone());
    // A tracer that gave up is why the run failed.
    simulation.evm.inspector.finished()?;
    let outcome = run.map_err(|error| simulation.explain(error.into()))?;
    trace(&mut simulation.evm, &simulation.tx, &outcome, TransactionContext::default())
}

/// Traces one transaction of a block after running those before it.
pub fn trace_transaction(
    block: TracedBlock<'_>,
    index: usize,
    options: GethDebugTracingOptions,
) -> Result<GethTrace, TraceError> {
    let Some(traced) = block.transactions.get(index) else {
        return Err(TraceError::NoSuchTransaction(index));
    };
    let mut replay = Replay::new(block, options)?;
    for (index, tx) in block.transactions.iter().enumerate().take(index) {
        replay.skip(index, tx)?;
    }
    replay.trace(index, traced)
}

/// Traces all transactions of a block, in order.
pub fn trace_block(
    block: TracedBlock<'_>,
    options: GethDebugTracingOptions,
) -> Result<Vec<GethTrace>, TraceError> {
    let mut replay = Replay::new(block, options)?;
    block.transactions.iter().enumerate().map(|(index, tx)| replay.trace(index, tx)).collect()
}

/// A mined block being run once more.
struct Replay<'a> {
    evm: OverlayEvm<'a, Bounded>,
}

impl<'a> Replay<'a> {
    fn new(block: TracedBlock<'a>, options: GethDebugTracingOptions) -> Result<Self, TraceError> {
        let TracedBlock { spec, parent_state, hashes, header, transactions: _, interrupt } = block;
        let rules = env::rules(spec, spec.fork_at(header.number, header.timestamp));
        let overlay = Overlay::new(parent_state, hashes);
        let block = env::block_env(spec, header);
        Ok(Self { evm: env::evm(rules, block, overlay, Meter::new(interrupt), inspector(options)?) })
    }

    fn skip(&mut self, index: usize, tx: &Transaction) -> Result<(), ExecError> {
        let run = self.evm.transact_commit(env::tx_env(tx));
        let result = run.map_err(|error| self.explain(index, tx, error.into()))?;
        self.evm.ctx.chain.end_run(result.gas().total_gas_spent());
        Ok(())
    }

    fn trace(&mut self, index: usize, tx: &Transaction) -> Result<GethTrace, TraceError> {
        let env = env::tx_env(tx);
        let run = self.evm.inspect_tx(env.clone());
        // A tracer that gave up is why the run failed.
        self.evm.inspector.finished()?;
        let outcome = run.map_err(|error| self.explain(index, tx, error.into()))?;
        let context = TransactionContext {
            tx_hash: Some(*tx.inner().tx_hash()),
            tx_index: Some(index),
            ..TransactionContext::default()
        };
        let trace = trace(&mut self.evm, &env, &outcome, context)?;
        self.evm.inspector.reset().map_err(|_| TraceError::UnsupportedTracer)?;
        self.evm.ctx.chain.end_run(outcome.result.gas().total_gas_spent());
        self.evm.ctx.journaled_state.database.commit(outcome.state);
        Ok(trace)
    }

    fn explain(&self, index: usize, tx: &Transaction, error: RunError) -> ExecError {
        if let Some(interruption) = self.evm.ctx.chain.interruption() {
            return interruption.into();
        }
        match error {
            RunError::Fatal(error) => error,
            RunError::Refused(refusal) => {
                let block = &self.evm.ctx.block;
                let reason = RejectReason::new(refusal, tx.gas_limit(), block.gas_limit, block.basefee);
                ExecError::InvalidTransaction { index, hash: *tx.inner().tx_hash(), reason }
            }
        }
    }
}

/// The same trace with the failures of its steps in words.
fn in_words(mut trace: GethTrace) -> GethTrace {
    if let GethTrace::Default(frame) = &mut trace {
        for error in frame.struct_logs.iter_mut().filter_map(|step| step.error.as_mut()) {
            *error = step_words(error).to_owned();
        }
    }
    trace
}

fn inspector(options: GethDebugTracingOptions) -> Result<Bounded, TraceError> {
    let inspector = DebugInspector::new(options).map_err(|_| TraceError::UnsupportedTracer)?;
    Ok(Bounded::new(inspector))
}

fn trace(
    evm: &mut OverlayEvm<'_, Bounded>,
    tx: &TxEnv,
    outcome: &ResultAndState,
    context: TransactionContext,
) -> Result<GethTrace, TraceError> {
    let inspector = evm.inspector.finished()?;
    let (block, database) = (&evm.ctx.block, &mut evm.ctx.journaled_state.database);
    let trace = inspector.get_result(Some(context), tx, block, outcome, database);
    trace.map(in_words).map_err(|error| match error {
        DebugInspectorError::Database(error) => ExecError::State(error).into(),
        DebugInspectorError::InvalidTracerConfig
        | DebugInspectorError::UnsupportedTracer
        | DebugInspectorError::JsTracerNotEnabled
        | DebugInspectorError::MuxInspector(_) => TraceError::UnsupportedTracer,
    })
}
