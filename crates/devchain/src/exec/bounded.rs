//! A bound on what a tracer may record: a stranger's code could otherwise fill the memory with it.

use alloy_primitives::{Address, Log, U256};
use revm::{
    Inspector,
    context_interface::{ContextTr, context::ContextError},
    handler::FrameResult,
    inspector::JournalExt,
    interpreter::{
        CallInputs, CallOutcome, CreateInputs, CreateOutcome, FrameInput, Interpreter,
        interpreter_types::LoopControl,
    },
};
use revm_inspectors::tracing::{
    DebugInspector, DebugInspectorError, TraceLimitBehavior, TraceLimits, TracingInspector,
    types::{CallLog, CallTraceNode, CallTraceStep},
};

use super::TraceError;

/// What a trace may hold before it is rendered, all its transactions together.
const MAX_BYTES: usize = 96 * 1024 * 1024;
/// What a tracer keeps of a step, of a call and of a log, beside their data.
const STEP_BYTES: usize = size_of::<CallTraceStep>();
const CALL_BYTES: usize = size_of::<CallTraceNode>();
const LOG_BYTES: usize = size_of::<CallLog>();
const WORD_BYTES: usize = size_of::<U256>();

/// A tracer that gives up, with the transaction, when its record grows too large.
pub(super) struct Bounded {
    tracer: DebugInspector,
    keeps: Kept,
    /// Weighed by ourselves: of earlier transactions, and of steps, calls and logs of this one.
    bytes: usize,
}

/// What a tracer keeps of each step.
#[derive(Clone, Copy)]
enum Kept {
    Nothing,
    Step,
    StepAndStack,
}

impl Bounded {
    pub(super) fn new(tracer: DebugInspector) -> Self {
        let limits = TraceLimits::default()
            .set_max_recorded_bytes(Some(MAX_BYTES))
            .set_behavior(TraceLimitBehavior::Halt);
        let (tracer, keeps) = match tracer {
            DebugInspector::Default(inner, options) => {
                let keeps = if options.is_stack_enabled() { Kept::StepAndStack } else { Kept::Step };
                (DebugInspector::Default(inner.with_limits(limits), options), keeps)
            }
            DebugInspector::Erc7562Tracer(inner, config) => {
                (DebugInspector::Erc7562Tracer(inner.with_limits(limits), config), Kept::StepAndStack)
            }
            other => (other, Kept::Nothing),
        };
        Self { tracer, keeps, bytes: 0 }
    }

    /// The tracer, unless it has given up.
    pub(super) fn finished(&mut self) -> Result<&mut DebugInspector, TraceError> {
        if self.is_too_large() {
            return Err(TraceError::TooLarge { bytes: MAX_BYTES });
        }
        Ok(&mut self.tracer)
    }

    /// Forgets the last transaction, but not how much its trace takes: it is kept until all are answered.
    pub(super) fn reset(&mut self) -> Result<(), DebugInspectorError> {
        self.bytes = self.bytes.saturating_add(self.recorded().map_or(0, |inner| inner.recorded_bytes()));
        self.tracer.fuse()
    }

    /// The tracer that counts the memory and call data it copies.
    fn recorded(&self) -> Option<&TracingInspector> {
        match &self.tracer {
            DebugInspector::Default(inner, _) | DebugInspector::Erc7562Tracer(inner, _) => Some(inner),
            DebugInspector::FourByte(_)
            | DebugInspector::CallTracer(..)
            | DebugInspector::PreStateTracer(..)
            | DebugInspector::Noop(_)
            | DebugInspector::StateGasTracer(_)
            | DebugInspector::Mux(..)
            | DebugInspector::FlatCallTracer(_) => None,
        }
    }

    fn is_too_large(&self) -> bool {
        let (copied, is_over) =
            self.recorded().map_or((0, false), |inner| (inner.recorded_bytes(), inner.limit_exceeded()));
        is_over || self.bytes.saturating_add(copied) > MAX_BYTES
    }

    /// Counts what is about to be recorded; if that is too much, the transaction is to end.
    fn count<CTX: ContextTr>(&mut self, bytes: usize, context: &mut CTX) {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.is_too_large() && context.error().is_ok() {
            *context.error() = Err(ContextError::Custom("the trace is too large".into()));
        }
    }
}

impl<CTX: ContextTr<Journal: JournalExt>> Inspector<CTX> for Bounded {
    fn step(&mut self, interp: &mut Interpreter, context: &mut CTX) {
        match self.keeps {
            Kept::Nothing => {}
            Kept::Step => self.count(STEP_BYTES, context),
            Kept::StepAndStack => self.count(STEP_BYTES + interp.stack.len() * WORD_BYTES, context),
        }
        if self.is_too_large() {
            interp.bytecode.reset_action();
            interp.halt_fatal();
            return;
        }
        Inspector::<CTX>::step(&mut self.tracer, interp, context);
    }

    fn initialize_interp(&mut self, interp: &mut Interpreter, context: &mut CTX) {
        self.tracer.initialize_interp(interp, context);
    }

    fn step_end(&mut self, interp: &mut Interpreter, context: &mut CTX) {
        self.tracer.step_end(interp, context);
    }

    fn log(&mut self, context: &mut CTX, log: Log) {
        self.count(LOG_BYTES + log.data.data.len(), context);
        self.tracer.log(context, log);
    }

    fn log_full(&mut self, interp: &mut Interpreter, context: &mut CTX, log: Log) {
        self.count(LOG_BYTES + log.data.data.len(), context);
        self.tracer.log_full(interp, context, log);
    }

    fn frame_start(&mut self, context: &mut CTX, input: &mut FrameInput) -> Option<FrameResult> {
        self.tracer.frame_start(context, input)
    }

    fn frame_end(&mut self, context: &mut CTX, input: &FrameInput, result: &mut FrameResult) {
        self.tracer.frame_end(context, input, result);
    }

    fn call(&mut self, context: &mut CTX, inputs: &mut CallInputs) -> Option<CallOutcome> {
        self.count(CALL_BYTES + inputs.input.len(), context);
        self.tracer.call(context, inputs)
    }

    fn call_end(&mut self, context: &mut CTX, inputs: &CallInputs, outcome: &mut CallOutcome) {
        self.tracer.call_end(context, inputs, outcome);
    }

    fn create(&mut self, context: &mut CTX, inputs: &mut CreateInputs) -> Option<CreateOutcome> {
        self.count(CALL_BYTES + inputs.init_code().len(), context);
        self.tracer.create(context, inputs)
    }

    fn create_end(&mut self, context: &mut CTX, inputs: &CreateInputs, outcome: &mut CreateOutcome) {
        self.tracer.create_end(context, inputs, outcome);
    }

    fn selfdestruct(&mut self, contract: Address, target: Address, value: U256) {
        Inspector::<CTX>::selfdestruct(&mut self.tracer, contract, target, value);
    }
}
