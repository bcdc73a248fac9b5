//! What each command does.

pub(crate) mod allowlist;
pub(crate) mod applications;
pub(crate) mod config;
pub(crate) mod ctl;
pub(crate) mod db;
pub(crate) mod doctor;
pub(crate) mod genesis;
pub(crate) mod keys;
pub(crate) mod network;
pub(crate) mod node;
pub(crate) mod nodes;
pub(crate) mod partner;
pub(crate) mod portal;
pub(crate) mod rate;
pub(crate) mod registry;
pub(crate) mod role;
pub(crate) mod send;
pub(crate) mod transfer;
pub(crate) mod up;
pub(crate) mod validator;
