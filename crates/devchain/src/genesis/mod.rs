//! Genesis: Besu's `genesis.json` read and written, the header of block 0, and the file a new network starts with.
//!
//! [`Genesis`] is what a file says. [`GenesisSpec`] is what an operator decides; building it runs the contracts'
//! constructors, so that the file holds the state they would have left behind.

mod build;
mod config;
mod error;
mod header;
mod parse;
mod print;
mod scratch;
mod spec;

#[cfg(test)]
mod tests;

pub use build::{BuildError, GENESIS_STAKE};
pub use config::{BlobFields, ChainConfig, Fork, Genesis, Ibft2Config};
pub use error::GenesisError;
pub use header::DEFAULT_BASE_FEE;
pub use scratch::SetUpError;
pub use spec::{GenesisSpec, GenesisValidator};
