//! A point in time at which a transaction under way is stopped, for whoever chooses the transactions of a block.
//!
//! The clock is read where a transaction can spend time: at jumps, without which nothing loops, at calls and creations, at hashes
//! and reads of the state, and before precompiled contracts. A precompiled contract cannot be stopped once it runs, so it is not
//! begun with more gas than the time left is worth. Blocks that somebody else has chosen are executed without any of this.

use std::time::{Duration, Instant};

use revm::{
    bytecode::opcode,
    context::{Cfg, ContextTr},
    context_interface::context::ContextError,
    handler::{EthPrecompiles, MainnetContext, PrecompileProvider, instructions::EthInstructions},
    interpreter::{
        CallInputs, Gas, Instruction, InstructionContext, InstructionExecResult, InstructionResult,
        InterpreterResult, instructions as run, interpreter::EthInterpreter,
    },
    primitives::{AddressSet, hardfork::SpecId},
};

use super::overlay::Overlay;

/// Work between two looks at the clock, in jumps.
const LOOK_EVERY: u32 = 256;
/// Gas of a precompiled contract that any machine does in a millisecond. The slowest of them, BLAKE2, does three times as much
/// on a small one.
const PRECOMPILE_GAS_PER_MS: u64 = 10_000;
/// What the interpreter says; [`Deadline::has_passed`] is what decides.
const STOPPED: &str = "the transaction has run out of time";

type BlockContext<'a> = MainnetContext<Overlay<'a>>;

/// When a transaction is stopped, if ever.
#[derive(Debug, Default)]
pub(super) struct Deadline {
    at: Option<Instant>,
    until_look: u32,
    passed: bool,
}

impl Deadline {
    /// Watches the next transaction until `at`; with `None` it may take what it takes.
    pub(super) fn set(&mut self, at: Option<Instant>) {
        *self = Self { at, until_look: LOOK_EVERY, passed: false };
    }

    /// Whether a transaction was stopped.
    pub(super) fn has_passed(&self) -> bool {
        self.passed
    }

    /// Counts work, and looks at the clock now and then.
    fn spend(&mut self, work: u32) -> Result<(), Stopped> {
        let Some(at) = self.at else { return Ok(()) };
        if let Some(left) = self.until_look.checked_sub(work) {
            self.until_look = left;
            return Ok(());
        }
        self.until_look = LOOK_EVERY;
        if Instant::now() >= at { Err(self.stop()) } else { Ok(()) }
    }

    fn left(&self) -> Option<Duration> {
        self.at.map(|at| at.saturating_duration_since(Instant::now()))
    }

    fn stop(&mut self) -> Stopped {
        self.passed = true;
        Stopped
    }
}

/// The time is over.
struct Stopped;

/// Makes the interpreter look at the clock.
pub(super) fn watch<'a>(instructions: &mut EthInstructions<EthInterpreter, BlockContext<'a>>) {
    macro_rules! watch {
        ($($opcode:ident: $work:literal => $run:path;)*) => { $(
            let gas = instructions.gas_table().get(usize::from(opcode::$opcode)).copied().unwrap_or_default();
            let watched = Instruction::new(|mut context| {
                spend(&mut context, $work)?;
                $run(context)
            });
            instructions.insert_instruction(opcode::$opcode, watched, gas);
        )* };
    }
    watch! {
        JUMP: 1 => run::control::jump;
        JUMPI: 1 => run::control::jumpi;
        KECCAK256: 64 => run::system::keccak256;
        BALANCE: 16 => run::host::balance;
        EXTCODESIZE: 16 => run::host::extcodesize;
        EXTCODECOPY: 16 => run::host::extcodecopy;
        EXTCODEHASH: 16 => run::host::extcodehash;
        SLOAD: 16 => run::host::sload;
        SSTORE: 16 => run::host::sstore;
        SELFDESTRUCT: 16 => run::host::selfdestruct;
        CALL: 64 => run::contract::call::<{ opcode::CALL }, _, _>;
        CALLCODE: 64 => run::contract::call::<{ opcode::CALLCODE }, _, _>;
        DELEGATECALL: 64 => run::contract::call::<{ opcode::DELEGATECALL }, _, _>;
        STATICCALL: 64 => run::contract::call::<{ opcode::STATICCALL }, _, _>;
        CREATE: 64 => run::contract::create::<false, _, _>;
        CREATE2: 64 => run::contract::create::<true, _, _>;
    }
}

fn spend(
    context: &mut InstructionContext<'_, BlockContext<'_>, EthInterpreter>,
    work: u32,
) -> InstructionExecResult {
    let deadline = &mut context.host.journaled_state.database.deadline;
    deadline.spend(work).map_err(|Stopped| {
        *context.host.error() = Err(ContextError::Custom(STOPPED.to_owned()));
        InstructionResult::FatalExternalError
    })
}

/// Ethereum's precompiled contracts, begun only if they end in time.
pub(super) struct TimedPrecompiles(EthPrecompiles);

impl TimedPrecompiles {
    pub(super) fn new(spec: SpecId) -> Self {
        Self(EthPrecompiles::new(spec))
    }
}

impl<'a> PrecompileProvider<BlockContext<'a>> for TimedPrecompiles {
    type Output = InterpreterResult;

    fn set_spec(&mut self, spec: <<BlockContext<'a> as ContextTr>::Cfg as Cfg>::Spec) -> bool {
        PrecompileProvider::<BlockContext<'a>>::set_spec(&mut self.0, spec)
    }

    fn run(
        &mut self,
        context: &mut BlockContext<'a>,
        inputs: &CallInputs,
    ) -> Result<Option<InterpreterResult>, String> {
        let left = match context.journaled_state.database.deadline.left() {
            Some(left) if self.0.contains(&inputs.bytecode_address) => left,
            Some(_) | None => return self.0.run(context, inputs),
        };
        let affordable =
            u64::try_from(left.as_millis()).unwrap_or(u64::MAX).saturating_mul(PRECOMPILE_GAS_PER_MS);
        if inputs.gas_limit <= affordable {
            return self.0.run(context, inputs);
        }
        let ran = self.0.run(context, &CallInputs { gas_limit: affordable, ..inputs.clone() })?;
        let Some(mut result) = ran else { return Ok(None) };
        if result.result == InstructionResult::PrecompileOOG {
            let Stopped = context.journaled_state.database.deadline.stop();
            return Err(STOPPED.to_owned());
        }
        // It has cost what it costs; the rest is of the gas that it was given.
        let spent = result.gas.total_gas_spent();
        result.gas = Gas::new(inputs.gas_limit);
        if result.result.is_halt() {
            result.gas.spend_all();
        } else {
            result.gas.set_spent(spent);
        }
        Ok(Some(result))
    }

    fn warm_addresses(&self) -> &AddressSet {
        self.0.warm_addresses()
    }
}
