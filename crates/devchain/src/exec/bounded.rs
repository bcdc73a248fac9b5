//! A bound on what a tracer may record: struct logs of one transaction could otherwise fill the memory.

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
use revm_inspectors::tracing::{DebugInspector, DebugInspectorError, TraceLimitBehavior, TraceLimits};

use super::TraceError;

const MAX_STEPS: u64 = 500_000;
const MAX_BYTES: usize = 128 * 1024 * 1024;

/// A tracer that gives up, with the transaction, when its record grows too large.
pub(super) struct Bounded {
    tracer: DebugInspector,
    /// Steps that may still be recorded; `None` for tracers that keep nothing per step.
    steps_left: Option<u64>,
}

impl Bounded {
    pub(super) fn new(tracer: DebugInspector) -> Self {
        let limits = TraceLimits::default()
            .set_max_recorded_bytes(Some(MAX_BYTES))
            .set_behavior(TraceLimitBehavior::Halt);
        let tracer = match tracer {
            DebugInspector::Default(inner, options) => {
                DebugInspector::Default(inner.with_limits(limits), options)
            }
            other => other,
        };
        Self { steps_left: step_budget(&tracer), tracer }
    }

    /// The tracer, unless it has given up.
    pub(super) fn finished(&mut self) -> Result<&mut DebugInspector, TraceError> {
        if self.gave_up() {
            return Err(TraceError::TooLarge { steps: MAX_STEPS, bytes: MAX_BYTES });
        }
        Ok(&mut self.tracer)
    }

    /// Forgets the last transaction.
    pub(super) fn reset(&mut self) -> Result<(), DebugInspectorError> {
        self.steps_left = step_budget(&self.tracer);
        self.tracer.fuse()
    }

    fn gave_up(&self) -> bool {
        let too_many_bytes =
            matches!(&self.tracer, DebugInspector::Default(inner, _) if inner.limit_exceeded());
        self.steps_left == Some(0) || too_many_bytes
    }
}

fn step_budget(tracer: &DebugInspector) -> Option<u64> {
    match tracer {
        DebugInspector::Default(..) | DebugInspector::Erc7562Tracer(..) => Some(MAX_STEPS),
        DebugInspector::FourByte(_)
        | DebugInspector::CallTracer(..)
        | DebugInspector::PreStateTracer(..)
        | DebugInspector::Noop(_)
        | DebugInspector::StateGasTracer(_)
        | DebugInspector::Mux(..)
        | DebugInspector::FlatCallTracer(_) => None,
    }
}

impl<CTX: ContextTr<Journal: JournalExt>> Inspector<CTX> for Bounded {
    fn step(&mut self, interp: &mut Interpreter, context: &mut CTX) {
        if let Some(left) = &mut self.steps_left {
            *left = left.saturating_sub(1);
            if *left == 0 {
                if context.error().is_ok() {
                    *context.error() = Err(ContextError::Custom("trace step limit exceeded".into()));
                }
                interp.bytecode.reset_action();
                interp.halt_fatal();
                return;
            }
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
        self.tracer.log(context, log);
    }

    fn log_full(&mut self, interp: &mut Interpreter, context: &mut CTX, log: Log) {
        self.tracer.log_full(interp, context, log);
    }

    fn frame_start(&mut self, context: &mut CTX, input: &mut FrameInput) -> Option<FrameResult> {
        self.tracer.frame_start(context, input)
    }

    fn frame_end(&mut self, context: &mut CTX, input: &FrameInput, result: &mut FrameResult) {
        self.tracer.frame_end(context, input, result);
    }

    fn call(&mut self, context: &mut CTX, inputs: &mut CallInputs) -> Option<CallOutcome> {
        self.tracer.call(context, inputs)
    }

    fn call_end(&mut self, context: &mut CTX, inputs: &CallInputs, outcome: &mut CallOutcome) {
        self.tracer.call_end(context, inputs, outcome);
    }

    fn create(&mut self, context: &mut CTX, inputs: &mut CreateInputs) -> Option<CreateOutcome> {
        self.tracer.create(context, inputs)
    }

    fn create_end(&mut self, context: &mut CTX, inputs: &CreateInputs, outcome: &mut CreateOutcome) {
        self.tracer.create_end(context, inputs, outcome);
    }

    fn selfdestruct(&mut self, contract: Address, target: Address, value: U256) {
        Inspector::<CTX>::selfdestruct(&mut self.tracer, contract, target, value);
    }
}
