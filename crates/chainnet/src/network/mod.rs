//! A network of Besu nodes as a folder: genesis, keys, one configuration per node, and what starts and points at them.
//!
//! Everything but the keys follows from the [`plan::Plan`] and the addresses of the keys, which `network.json` keeps
//! ([`manifest::Manifest`]). Writing a folder and checking one use the same functions, so they cannot disagree.

pub(crate) mod accounts;
pub(crate) mod check;
mod compose;
mod env;
pub(crate) mod file;
pub(crate) mod folder;
mod founding;
mod keys;
pub(crate) mod manifest;
mod node_config;
pub(crate) mod plan;
mod record;
mod script;
mod units;

/// The release of Besu that the folder is written for: the newest 24.x.
pub(crate) const BESU_VERSION: &str = "24.12.2";
