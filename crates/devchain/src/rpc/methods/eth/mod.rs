//! `eth_*`.

pub(super) mod blocks;
pub(super) mod fees;
pub(super) mod filters;
pub(super) mod logs;
pub(super) mod node;
pub(super) mod simulation;
pub(super) mod state;
pub(super) mod subscribe;
pub(super) mod transactions;
