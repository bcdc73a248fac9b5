//! What each command does.

pub(crate) mod config;
pub(crate) mod ctl;
pub(crate) mod genesis;
pub(crate) mod node;
pub(crate) mod transfer;
