//! The interpreter's view of a block and of a transaction.

use alloy_consensus::{Header, Transaction as _, Typed2718};
use alloy_primitives::{TxKind, U256};
use revm::{
    Context, Journal,
    context::{BlockEnv, CfgEnv, Evm, FrameStack, TxEnv},
    context_interface::block::BlobExcessGasAndPrice,
    handler::{EthFrame, instructions::EthInstructions},
    interpreter::{instructions::gas_table_spec, interpreter::EthInterpreter},
};

use super::{
    ChainSpec, Fork, INIT_CODE_LIMIT,
    interrupt::{Meter, metered_instructions},
    overlay::Overlay,
    precompiles::Precompiles,
};
use crate::block::Transaction;

/// What the interpreter runs in: a block over an [`Overlay`], with a meter of what it executes.
pub(super) type EvmContext<'a> =
    Context<BlockEnv, TxEnv, CfgEnv, Overlay<'a>, Journal<Overlay<'a>>, Meter<'a>>;

/// The interpreter over an [`Overlay`], with an inspector if something watches.
pub(super) type OverlayEvm<'a, I = ()> = Evm<
    EvmContext<'a>,
    I,
    EthInstructions<EthInterpreter, EvmContext<'a>>,
    Precompiles,
    EthFrame<EthInterpreter>,
>;

/// An interpreter for these rules and this block, which runs until it is done or interrupted.
pub(super) fn evm<'a, I>(
    cfg: CfgEnv,
    block: BlockEnv,
    overlay: Overlay<'a>,
    meter: Meter<'a>,
    inspector: I,
) -> OverlayEvm<'a, I> {
    let spec = cfg.spec;
    let context: Context<BlockEnv, TxEnv, CfgEnv, Overlay<'a>> = Context::new(overlay, spec);
    let instruction = if meter.is_needed() {
        EthInstructions::new(const { metered_instructions() }, gas_table_spec(spec), spec)
    } else {
        EthInstructions::new_mainnet_with_spec(spec)
    };
    Evm {
        ctx: context.with_cfg(cfg).with_block(block).with_chain(meter),
        inspector,
        instruction,
        precompiles: Precompiles::new(spec),
        // Frames come as calls go deeper. The library's builder makes eight beforehand, each with a stack of 32 kB:
        // more work than most calls are.
        frame_stack: FrameStack::new(),
    }
}

/// The chain's rules at a fork.
pub(super) fn rules(spec: &ChainSpec, fork: Fork) -> CfgEnv {
    let mut cfg = CfgEnv::new_with_spec(fork.spec_id()).with_chain_id(spec.chain_id);
    cfg.limit_contract_code_size = Some(spec.contract_size_limit);
    cfg.limit_contract_initcode_size = Some(INIT_CODE_LIMIT);
    cfg
}

/// The block that `header` describes; the header may still lack its roots.
pub(super) fn block_env(spec: &ChainSpec, header: &Header) -> BlockEnv {
    BlockEnv {
        number: U256::from(header.number),
        beneficiary: spec.mining_beneficiary.unwrap_or(header.beneficiary),
        timestamp: U256::from(header.timestamp),
        gas_limit: header.gas_limit,
        basefee: header.base_fee_per_gas.unwrap_or_default(),
        // A constant rather than the header's fields: a header under construction need not have them yet.
        difficulty: U256::ONE,
        prevrandao: Some(ibft::rules::MIX_HASH),
        blob_excess_gas_and_price: Some(BlobExcessGasAndPrice {
            excess_blob_gas: 0,
            blob_gasprice: blob_gas_price(header),
        }),
        slot_num: 0,
    }
}

/// Price of blob gas, as Besu 24.x has it on IBFT 2.0: blocks count no blob gas, so it is the least one, or nothing where gas
/// has no base fee.
pub(crate) fn blob_gas_price(header: &Header) -> u128 {
    u128::from(header.base_fee_per_gas.is_some_and(|fee| fee > 0))
}

/// A signed transaction.
pub(super) fn tx_env(tx: &Transaction) -> TxEnv {
    let envelope = tx.inner();
    TxEnv {
        tx_type: envelope.ty(),
        caller: tx.signer(),
        gas_limit: envelope.gas_limit(),
        gas_price: envelope.max_fee_per_gas(),
        kind: match envelope.to() {
            Some(to) => TxKind::Call(to),
            None => TxKind::Create,
        },
        value: envelope.value(),
        data: envelope.input().clone(),
        nonce: envelope.nonce(),
        chain_id: envelope.chain_id(),
        access_list: envelope.access_list().cloned().unwrap_or_default(),
        gas_priority_fee: envelope.max_priority_fee_per_gas(),
        blob_hashes: envelope.blob_versioned_hashes().map(<[_]>::to_vec).unwrap_or_default(),
        max_fee_per_blob_gas: envelope.max_fee_per_blob_gas().unwrap_or_default(),
        // Set-code transactions are refused by their type, before this would be read.
        authorization_list: Vec::new(),
    }
}
