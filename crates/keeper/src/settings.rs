//! What an operator decides about the keeper, and the program's rules that it watches over.

use std::time::Duration;

use alloy_primitives::Address;
use domain::Wei;

/// How the keeper goes about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeeperSettings {
    /// The registry of validators.
    pub registry: Address,
    /// The chain's EIP-155 id.
    pub chain_id: u64,
    /// Whether it slashes, instead of reporting only.
    pub auto_slash: bool,
    /// Whether it has validators vote, instead of reporting only.
    pub auto_vote: bool,
    /// Accounts whose balance it watches.
    pub alarms: Vec<BalanceAlarm>,
    /// What counts as downtime.
    pub downtime: DowntimeRules,
    /// How long a keeper that went silent is waited for before another takes over.
    pub lease: Duration,
}

/// An account that must not run dry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BalanceAlarm {
    /// What it is called in logs and metrics.
    pub name: &'static str,
    /// The account.
    pub address: Address,
    /// Below this it is low.
    pub least: Wei,
}

/// What counts as downtime: all of it together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DowntimeRules {
    /// The window in which uptime is measured, in seconds of chain time.
    pub window_secs: u64,
    /// Uptime below this, in millionths.
    pub least_uptime_ppm: u64,
    /// Own turns missed in a row, at least.
    pub missed_in_a_row: usize,
    /// Blocks in a row without a seal, at least.
    pub silent_blocks: u32,
}

impl Default for DowntimeRules {
    fn default() -> Self {
        Self { window_secs: 24 * 3600, least_uptime_ppm: 990_000, missed_in_a_row: 3, silent_blocks: 30 }
    }
}

impl KeeperSettings {
    /// A keeper that only reports.
    pub fn new(registry: Address, chain_id: u64) -> Self {
        Self {
            registry,
            chain_id,
            auto_slash: false,
            auto_vote: false,
            alarms: Vec::new(),
            downtime: DowntimeRules::default(),
            lease: Duration::from_secs(10),
        }
    }
}
