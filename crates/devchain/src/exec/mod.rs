//! The EVM: running blocks, building them, simulating calls and tracing, always on top of a [`StateView`].
//!
//! Nothing here writes to the store. A block's effect leaves as a [`StateDiff`], a simulation's effect is dropped.
//!
//! [`StateView`]: crate::state::StateView
//! [`StateDiff`]: crate::state::StateDiff

mod access_list;
mod block;
mod bounded;
mod call;
mod code;
mod cost;
mod env;
mod error;
mod estimate;
mod halt;
mod interrupt;
mod intrinsic;
mod overlay;
mod overrides;
mod precompiles;
mod receipt;
mod select;
mod spec;
#[cfg(test)]
mod tests;
mod trace;

pub use access_list::create_access_list;
pub use block::{BlockOutcome, execute_block};
pub use call::{CallContext, CallOutcome, call};
pub(crate) use cost::{CallCosts, CallKey, INLINE_GAS};
pub(crate) use env::blob_gas_price;
pub use error::{EstimateError, ExecError, RejectReason, TraceError};
pub use estimate::estimate_gas;
pub(crate) use halt::halt_words;
pub use interrupt::{Interrupt, Interruption};
pub use intrinsic::intrinsic_gas;
pub use receipt::{body_roots, receipts_root, transactions_root};
pub use revm::context::result::HaltReason;
pub use select::{BuiltBody, HEAVY_GAS, SelectionTime, build_body};
pub use spec::{ChainSpec, Fork, INIT_CODE_LIMIT};
pub use trace::{TracedBlock, trace_block, trace_call, trace_transaction};

use alloy_primitives::B256;

/// The hashes that the BLOCKHASH opcode sees: on-chain IBFT hashes, not those of `Header::hash_slow`.
pub trait BlockHashes: Send + Sync {
    /// Hash of the block at this height, if the chain has it.
    fn block_hash(&self, number: u64) -> Option<B256>;
}
