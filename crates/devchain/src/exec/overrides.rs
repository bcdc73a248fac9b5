//! What a simulation pretends about accounts and the block.

use alloy_consensus::Header;
use alloy_primitives::{U256, keccak256};
use alloy_rpc_types_eth::{
    BlockOverrides,
    state::{AccountOverride, StateOverride},
};
use revm::{bytecode::Bytecode, context::BlockEnv};

use super::{ChainSpec, ExecError, Fork, env, overlay::Overlay};

/// Applies geth's account overrides.
pub(super) fn apply_accounts(overlay: &mut Overlay<'_>, overrides: &StateOverride) -> Result<(), ExecError> {
    for (&address, account) in overrides {
        let AccountOverride { balance, nonce, code, state, state_diff, move_precompile_to } = account;
        if move_precompile_to.is_some() {
            return Err(ExecError::PrecompileMove(address));
        }
        overlay.edit_account(address, |info| {
            info.balance = balance.unwrap_or(info.balance);
            info.nonce = nonce.unwrap_or(info.nonce);
            if let Some(code) = code {
                info.code_hash = keccak256(code);
                info.code = Some(Bytecode::new_legacy(code.clone()));
            }
        })?;
        let slots = match (state, state_diff) {
            (Some(_), Some(_)) => return Err(ExecError::ConflictingOverride(address)),
            (Some(whole), None) => {
                overlay.wipe_storage(address)?;
                whole
            }
            (None, Some(single)) => single,
            (None, None) => continue,
        };
        for (&slot, &value) in slots {
            overlay.set_storage(address, slot.into(), value.into())?;
        }
    }
    Ok(())
}

/// The block that a simulation runs in, and the fork that its height and time put it in.
pub(super) fn block(
    spec: &ChainSpec,
    header: &Header,
    overrides: Option<&BlockOverrides>,
) -> (BlockEnv, Fork) {
    let mut block = env::block_env(spec, header);
    if let Some(overrides) = overrides {
        block.number = overrides.number.unwrap_or(block.number);
        block.difficulty = overrides.difficulty.unwrap_or(block.difficulty);
        block.timestamp = overrides.time.map(U256::from).unwrap_or(block.timestamp);
        block.gas_limit = overrides.gas_limit.unwrap_or(block.gas_limit);
        block.beneficiary = overrides.coinbase.unwrap_or(block.beneficiary);
        block.prevrandao = overrides.random.or(block.prevrandao);
        block.basefee = overrides.base_fee.map(|fee| fee.saturating_to()).unwrap_or(block.basefee);
    }
    let fork = spec.fork_at(block.number.saturating_to(), block.timestamp.saturating_to());
    (block, fork)
}
