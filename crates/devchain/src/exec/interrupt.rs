//! When an execution has to end, finished or not: its gas is used up, its time is over, or nobody waits any longer.
//!
//! [`Interrupt`] is what the owner of the work holds; [`Meter`] is how the interpreter looks at it. The look is taken in
//! front of every jump and every instruction whose cost grows with its operands, so that no code, however it is
//! written, runs for long between two looks, and instructions that cost next to nothing stay as quick as they were.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Instant,
};

use revm::{
    bytecode::opcode::*,
    context::{ContextTr, JournalTr},
    context_interface::context::ContextError,
    interpreter::{
        Instruction, InstructionContext, InstructionResult, Interpreter,
        instructions::{InstructionTable, instruction_table},
        interpreter::EthInterpreter,
    },
};

use super::env::EvmContext;

/// Gas between two looks at the clock and at who waits, well under a millisecond.
const GAS_BETWEEN_LOOKS: u64 = 50_000;
/// What beginning a frame costs at least, by a call and by a creation.
const CALL_GAS: u64 = 100;
const CREATE_GAS: u64 = 32_000;
/// Gas of a precompiled contract that any machine does in a millisecond. The slowest of them, BLAKE2, does three times as much
/// on a small one.
const PRECOMPILE_GAS_PER_MS: u64 = 10_000;

/// Why an execution was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Interruption {
    /// More gas than may be executed here.
    #[error("the execution needs more gas than may be executed here")]
    Gas,
    /// The time is over.
    #[error("the execution took too long")]
    Timeout,
    /// Nobody waits for the outcome.
    #[error("nobody waits for the execution any longer")]
    Abandoned,
}

/// What ends an execution before it ends by itself.
#[derive(Debug)]
pub struct Interrupt {
    /// Gas that may really be executed, over all runs of a simulation.
    gas: u64,
    deadline: Option<Instant>,
    abandoned: AtomicBool,
}

static NEVER: Interrupt = Interrupt { gas: u64::MAX, deadline: None, abandoned: AtomicBool::new(false) };

impl Interrupt {
    /// Nothing ends it: blocks that are valid are executed in full.
    pub fn never() -> &'static Self {
        &NEVER
    }

    /// Ends when so much gas has been executed. The code itself cannot tell: it sees the gas it was given.
    pub const fn after_gas(gas: u64) -> Self {
        Self { gas, deadline: None, abandoned: AtomicBool::new(false) }
    }

    /// Ends at this time, or when it is abandoned.
    pub const fn at(deadline: Instant) -> Self {
        Self { gas: u64::MAX, deadline: Some(deadline), abandoned: AtomicBool::new(false) }
    }

    /// Ends it at the next look.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }

    /// Whether work has to end now, for what is no execution: searches, listings.
    pub fn check(&self) -> Result<(), Interruption> {
        self.check_caller()?;
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Interruption::Timeout),
            Some(_) | None => Ok(()),
        }
    }

    fn check_caller(&self) -> Result<(), Interruption> {
        if self.abandoned.load(Ordering::Relaxed) { Err(Interruption::Abandoned) } else { Ok(()) }
    }

    fn is_never(&self) -> bool {
        self.gas == u64::MAX && self.deadline.is_none()
    }
}

/// Counts the gas that is really executed, and looks at an [`Interrupt`] now and then.
#[derive(Debug)]
pub(super) struct Meter<'a> {
    interrupt: &'a Interrupt,
    /// Whether runs have deadlines of their own.
    is_timed: bool,
    /// The deadline of the present run.
    deadline: Option<Instant>,
    /// Gas that earlier runs have executed.
    earlier: u64,
    /// Gas executed before the frame at each depth below the first began.
    before: Vec<u64>,
    /// Executed gas at which the next look is due.
    next_look: u64,
    /// Why the last run was ended.
    interrupted: Option<Interruption>,
}

impl<'a> Meter<'a> {
    pub(super) fn new(interrupt: &'a Interrupt) -> Self {
        Self {
            interrupt,
            is_timed: false,
            deadline: interrupt.deadline,
            earlier: 0,
            before: Vec::new(),
            next_look: 0,
            interrupted: None,
        }
    }

    /// A meter of runs that have deadlines of their own: see [`Self::begin_run`].
    pub(super) fn timed() -> Self {
        Self { is_timed: true, next_look: u64::MAX, ..Self::new(Interrupt::never()) }
    }

    /// Whether instructions have to look at it.
    pub(super) fn is_needed(&self) -> bool {
        self.is_timed || !self.interrupt.is_never()
    }

    /// Begins a run that ends at a deadline, if there is one; what earlier runs did is forgotten.
    pub(super) fn begin_run(&mut self, deadline: Option<Instant>) {
        (self.deadline, self.earlier, self.interrupted) = (deadline, 0, None);
        self.before.clear();
        self.next_look = if deadline.is_some() { 0 } else { u64::MAX };
    }

    /// Whether there is nothing to look at.
    pub(super) fn is_idle(&self) -> bool {
        self.interrupt.is_never() && self.deadline.is_none()
    }

    /// Why the last run was ended, if it was.
    pub(super) fn interruption(&self) -> Option<Interruption> {
        self.interrupted
    }

    /// Adds what a whole run has executed, before the next one begins.
    pub(super) fn end_run(&mut self, gas: u64) {
        self.earlier = self.earlier.saturating_add(gas);
        self.before.clear();
    }

    /// Gas that a precompiled contract may use after so much, and what it is that it would exceed.
    pub(super) fn precompile_budget(&self, executed: u64) -> (u64, Interruption) {
        let by_gas = self.interrupt.gas.saturating_sub(executed);
        let by_time = self.deadline.map_or(u64::MAX, |deadline| {
            let left = deadline.saturating_duration_since(Instant::now()).as_millis();
            u64::try_from(left).unwrap_or(u64::MAX).saturating_mul(PRECOMPILE_GAS_PER_MS)
        });
        if by_time < by_gas { (by_time, Interruption::Timeout) } else { (by_gas, Interruption::Gas) }
    }

    /// Looks whether the execution has to end, after so much gas in all.
    pub(super) fn look(&mut self, executed: u64) -> Result<(), Interruption> {
        let looked = if executed > self.interrupt.gas {
            Err(Interruption::Gas)
        } else if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            Err(Interruption::Timeout)
        } else {
            self.interrupt.check_caller()
        };
        self.next_look = executed.saturating_add(GAS_BETWEEN_LOOKS).min(self.interrupt.gas);
        self.interrupted = looked.err();
        looked
    }

    /// Ends the run.
    pub(super) fn interrupt(&mut self, interruption: Interruption) {
        self.interrupted = Some(interruption);
    }

    /// Gas executed before the frame with this index began.
    pub(super) fn executed_before(&self, frame: usize) -> u64 {
        let nested = frame.checked_sub(1).and_then(|nested| self.before.get(nested).or(self.before.last()));
        nested.copied().unwrap_or(self.earlier)
    }

    /// Remembers what was executed when the frame below this one begins.
    fn enter_below(&mut self, frame: usize, executed: u64) {
        self.before.truncate(frame);
        self.before.push(executed);
    }
}

/// Index of the running frame among all frames.
pub(super) fn frame_index(context: &EvmContext<'_>) -> usize {
    context.journal().depth().saturating_sub(1)
}

type Step<'c, 'a> = InstructionContext<'c, EvmContext<'a>, EthInterpreter>;

/// An instruction that is looked at before it runs.
fn metered<const OPCODE: u8>(step: Step<'_, '_>) -> Result<(), InstructionResult> {
    look_at(step.interpreter, step.host)?;
    original::<OPCODE>().execute(step)
}

/// The same for one that begins a frame.
fn entering<const OPCODE: u8>(step: Step<'_, '_>) -> Result<(), InstructionResult> {
    let executed = look_at(step.interpreter, step.host)?;
    let frame = frame_index(step.host);
    // What the instruction itself costs is charged when it runs, and counts for the frame that it begins.
    let cost = match OPCODE {
        CREATE | CREATE2 => CREATE_GAS,
        _ => CALL_GAS,
    };
    step.host.chain.enter_below(frame, executed.saturating_add(cost));
    original::<OPCODE>().execute(step)
}

#[expect(clippy::indexing_slicing, reason = "the table has an entry for every byte")]
const fn original<'a, const OPCODE: u8>() -> Instruction<EthInterpreter, EvmContext<'a>> {
    instruction_table::<EthInterpreter, EvmContext<'a>>()[OPCODE as usize]
}

/// Gas executed so far; ends the execution if it has to end.
fn look_at(
    interpreter: &Interpreter<EthInterpreter>,
    context: &mut EvmContext<'_>,
) -> Result<u64, InstructionResult> {
    let before = context.chain.executed_before(frame_index(context));
    let executed = before.saturating_add(interpreter.gas.total_gas_spent());
    if executed >= context.chain.next_look
        && let Err(interruption) = context.chain.look(executed)
    {
        if context.error.is_ok() {
            context.error = Err(ContextError::Custom(interruption.to_string()));
        }
        return Err(InstructionResult::FatalExternalError);
    }
    Ok(executed)
}

/// All instructions, those that jump or may be expensive with a look in front.
#[expect(clippy::indexing_slicing, reason = "the table has an entry for every byte")]
pub(super) const fn metered_instructions<'a>() -> InstructionTable<EthInterpreter, EvmContext<'a>> {
    let mut table = instruction_table::<EthInterpreter, EvmContext<'a>>();
    macro_rules! put {
        ($with:ident: $($opcode:ident)*) => {
            $(table[$opcode as usize] = Instruction::new($with::<{ $opcode }>);)*
        };
    }
    put!(metered: JUMP JUMPI EXP KECCAK256 BALANCE EXTCODESIZE EXTCODECOPY EXTCODEHASH BLOCKHASH);
    put!(metered: CALLDATACOPY CODECOPY RETURNDATACOPY MCOPY SLOAD SSTORE LOG0 LOG1 LOG2 LOG3 LOG4);
    put!(entering: CALL CALLCODE DELEGATECALL STATICCALL CREATE CREATE2);
    table
}
