//! The embedded chain: a real EVM chain with IBFT 2.0 blocks inside the process.
//!
//! [`chain::Chain`] is the chain: its head, store, pool and events. [`produce`] seals blocks, [`rpc`] answers JSON-RPC,
//! [`transfer`] moves blocks in and out as files, [`client`] is the way in for the rest of the process. This is the only crate that knows revm.

pub mod block;
pub mod chain;
pub mod client;
pub mod clock;
pub mod exec;
pub mod genesis;
pub mod pool;
pub mod produce;
pub mod rpc;
pub mod state;
pub mod store;
pub mod transfer;
mod workers;
