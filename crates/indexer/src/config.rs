//! What an indexer can be told.

use std::time::Duration;

use alloy_primitives::Address;

/// Where the contracts stand whose events are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Contracts {
    /// `PlatformValidatorRegistry`.
    pub registry: Address,
    /// `PlatformFees`.
    pub fees: Address,
    /// `PlatformCheckout`.
    pub checkout: Address,
}

impl Default for Contracts {
    /// Where a genesis of ours puts them.
    fn default() -> Self {
        use contracts::address::{CHECKOUT, FEES, REGISTRY};
        Self { registry: REGISTRY, fees: FEES, checkout: CHECKOUT }
    }
}

/// The settings of an indexer.
#[derive(Debug, Clone)]
pub struct IndexerConfig {
    /// Where our contracts stand.
    pub contracts: Contracts,
    /// Drop the index and build it again when the chain has taken blocks back, instead of halting. Only for a devnet,
    /// where `evm_revert` does that.
    pub rebuild_on_mismatch: bool,
    /// How long another writer may stand still before this one takes over.
    pub standby: Duration,
    /// The first pause after a failure; it doubles with each up to [`IndexerConfig::longest_pause`].
    pub first_pause: Duration,
    /// The longest pause between tries.
    pub longest_pause: Duration,
}

impl Default for IndexerConfig {
    fn default() -> Self {
        Self {
            contracts: Contracts::default(),
            rebuild_on_mismatch: false,
            standby: Duration::from_secs(10),
            first_pause: Duration::from_millis(200),
            longest_pause: Duration::from_secs(10),
        }
    }
}
