//! The embedded chain: a real EVM chain with IBFT 2.0 blocks inside the process.
pub mod block;
pub mod exec;
pub mod pool;
pub mod state;
pub mod store;
