//! Traces of calls, transactions and blocks.

use std::sync::Arc;

use alloy_primitives::{U256, hex};
use alloy_rpc_types_eth::TransactionRequest;
use alloy_rpc_types_trace::geth::{
    CallConfig, CallFrame, GethDebugTracingCallOptions, GethDebugTracingOptions, GethTrace, PreStateConfig,
    PreStateFrame,
};

use super::{ALICE, BOB, CONTRACT, World, call_of, legacy, transfer, tx};
use crate::{
    block::Transaction,
    exec::{Interrupt, TraceError, TracedBlock, trace_block, trace_call, trace_transaction},
};

/// Calls BOB, who logs.
fn world() -> World {
    let outer = format!("6000600060006000600073{}5af100", hex::encode(BOB));
    World::london().with_code(CONTRACT, &outer).with_code(BOB, "60aa60006000a1")
}

fn traced<'a>(world: &'a World, transactions: &'a [Arc<Transaction>]) -> TracedBlock<'a> {
    TracedBlock {
        spec: &world.spec,
        parent_state: &world.state,
        hashes: world.hashes(),
        header: &world.header,
        transactions,
        interrupt: Interrupt::never(),
    }
}

fn call_tracer(config: CallConfig) -> GethDebugTracingOptions {
    GethDebugTracingOptions::call_tracer(config)
}

fn frame(trace: GethTrace) -> CallFrame {
    trace.try_into_call_frame().unwrap()
}

#[test]
fn call_tracer_shows_inner_calls() {
    let world = world();
    let block = [call_of(ALICE, 0, CONTRACT)].map(Arc::new);
    let frame =
        frame(trace_transaction(traced(&world, &block), 0, call_tracer(CallConfig::default())).unwrap());
    assert_eq!((frame.from, frame.to), (ALICE, Some(CONTRACT)));
    assert_eq!(frame.gas, U256::from(1_000_000));
    assert_eq!(frame.calls.len(), 1);
    assert_eq!(frame.calls[0].to, Some(BOB));
    assert!(frame.calls[0].logs.is_empty());
}

#[test]
fn call_tracer_shows_logs_or_only_the_top_call_when_asked() {
    let world = world();
    let block = [call_of(ALICE, 0, CONTRACT)].map(Arc::new);
    let with_log = CallConfig::default().with_log();
    let shown = frame(trace_transaction(traced(&world, &block), 0, call_tracer(with_log)).unwrap());
    assert_eq!(shown.calls[0].logs.len(), 1);
    let top = CallConfig::default().only_top_call();
    let shown = frame(trace_transaction(traced(&world, &block), 0, call_tracer(top)).unwrap());
    assert!(shown.calls.is_empty());
}

#[test]
fn default_tracer_lists_steps() {
    let world = world();
    let request = TransactionRequest::default().from(ALICE).to(BOB);
    let trace = trace_call(world.call_context(), &request, GethDebugTracingCallOptions::default()).unwrap();
    let steps = trace.try_into_default_frame().unwrap();
    assert!(!steps.failed);
    let names: Vec<_> = steps.struct_logs.iter().map(|step| step.op.to_string()).collect();
    assert_eq!(names, ["PUSH1", "PUSH1", "PUSH1", "LOG1", "STOP"]);
}

#[test]
fn later_transactions_are_traced_on_top_of_earlier_ones() {
    // Stores the call value plus what is stored already.
    let world = World::london().with_contract(CONTRACT, "600154 34 01 600155", &[(1, 7)]);
    let send =
        |nonce| legacy(ALICE, alloy_consensus::TxLegacy { value: U256::from(3), ..tx(nonce, CONTRACT) });
    let block = [send(0), send(1)].map(Arc::new);
    let options = || GethDebugTracingOptions::prestate_tracer(PreStateConfig::default());
    let second = trace_transaction(traced(&world, &block), 1, options()).unwrap();
    let all = trace_block(traced(&world, &block), options()).unwrap();
    assert_eq!(all.len(), 2);
    assert_eq!(serde_json::to_value(&all[1]).unwrap(), serde_json::to_value(&second).unwrap());
    let GethTrace::PreStateTracer(PreStateFrame::Default(before)) = second else { panic!("{second:?}") };
    let slots: Vec<U256> = before.0[&CONTRACT].storage.values().map(|value| (*value).into()).collect();
    assert_eq!(slots, [U256::from(10)]);
}

#[test]
fn reverted_transactions_are_traced_with_their_error() {
    let world = World::london().with_code(CONTRACT, "60006000fd");
    let block = [call_of(ALICE, 0, CONTRACT)].map(Arc::new);
    let frame =
        frame(trace_transaction(traced(&world, &block), 0, call_tracer(CallConfig::default())).unwrap());
    assert_eq!(frame.error.as_deref(), Some("execution reverted"));
}

#[test]
fn every_transaction_of_a_block_is_traced_afresh() {
    let world = world();
    let block =
        [call_of(ALICE, 0, CONTRACT), transfer(ALICE, 1, ALICE), call_of(ALICE, 2, CONTRACT)].map(Arc::new);
    let traces = trace_block(traced(&world, &block), call_tracer(CallConfig::default())).unwrap();
    let inner: Vec<_> = traces.into_iter().map(|trace| frame(trace).calls.len()).collect();
    assert_eq!(inner, [1, 0, 1]);
}

#[test]
fn tracing_a_transaction_that_is_not_there_fails() {
    let world = world();
    let result = trace_transaction(traced(&world, &[]), 0, GethDebugTracingOptions::default());
    assert!(matches!(result, Err(TraceError::NoSuchTransaction(0))));
}

#[test]
fn script_tracers_are_refused() {
    let world = world();
    let options = serde_json::from_str(r#"{"tracer": "{step: function() {}}"}"#).unwrap();
    let result = trace_transaction(traced(&world, &[call_of(ALICE, 0, BOB).into()]), 0, options);
    assert!(matches!(result, Err(TraceError::UnsupportedTracer)));
}

#[test]
fn endless_struct_logs_are_refused_but_the_call_tracer_copes() {
    let world = World::london().with_code(CONTRACT, "5b600056");
    let request = TransactionRequest::default().from(ALICE).to(CONTRACT);
    let result = trace_call(world.call_context(), &request, GethDebugTracingCallOptions::default());
    assert!(matches!(result, Err(TraceError::TooLarge { .. })), "{result:?}");
    let options = GethDebugTracingCallOptions::new(call_tracer(CallConfig::default()));
    assert_eq!(
        frame(trace_call(world.call_context(), &request, options).unwrap()).error.as_deref(),
        Some("out of gas")
    );
}
