//! The precompiled contracts, held to the gas that may still be executed and to what the time left is worth.

use revm::{
    handler::{EthPrecompiles, PrecompileProvider},
    interpreter::{CallInputs, Gas, InstructionResult, InterpreterResult},
    primitives::{Address, AddressSet, hardfork::SpecId},
};

use super::{
    env::EvmContext,
    interrupt::{Interruption, frame_index},
};

/// The fork's precompiles. One of them runs in one piece, so what it may use is decided before it begins.
#[derive(Debug)]
pub(super) struct Precompiles(EthPrecompiles);

impl Precompiles {
    pub(super) fn new(spec: SpecId) -> Self {
        Self(EthPrecompiles::new(spec))
    }

    fn run_within(
        &mut self,
        context: &mut EvmContext<'_>,
        inputs: &CallInputs,
        (gas, interruption): (u64, Interruption),
    ) -> Result<Option<InterpreterResult>, String> {
        let bounded = CallInputs { gas_limit: gas, ..inputs.clone() };
        let Some(mut result) = PrecompileProvider::run(&mut self.0, context, &bounded)? else {
            return Ok(None);
        };
        if result.result == InstructionResult::PrecompileOOG {
            context.chain.interrupt(interruption);
            return Err(interruption.to_string());
        }
        let spent = result.gas.total_gas_spent();
        result.gas = Gas::new(inputs.gas_limit);
        if result.result.is_ok_or_revert() {
            let _ = result.gas.record_regular_cost(spent);
        } else {
            result.gas.spend_all();
        }
        Ok(Some(result))
    }
}

impl<'a> PrecompileProvider<EvmContext<'a>> for Precompiles {
    type Output = InterpreterResult;

    fn set_spec(&mut self, spec: SpecId) -> bool {
        PrecompileProvider::<EvmContext<'a>>::set_spec(&mut self.0, spec)
    }

    fn run(
        &mut self,
        context: &mut EvmContext<'a>,
        inputs: &CallInputs,
    ) -> Result<Option<InterpreterResult>, String> {
        if context.chain.is_idle() || !self.0.contains(&inputs.bytecode_address) {
            return PrecompileProvider::run(&mut self.0, context, inputs);
        }
        let executed = context.chain.executed_before(frame_index(context));
        context.chain.look(executed).map_err(|interruption: Interruption| interruption.to_string())?;
        let budget = context.chain.precompile_budget(executed);
        if inputs.gas_limit <= budget.0 {
            return PrecompileProvider::run(&mut self.0, context, inputs);
        }
        self.run_within(context, inputs, budget)
    }

    fn warm_addresses(&self) -> &AddressSet {
        self.0.warm_addresses()
    }

    fn contains(&self, address: &Address) -> bool {
        self.0.contains(address)
    }
}
