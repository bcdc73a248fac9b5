//! What an operator decides about a new network.

use alloy_primitives::{Address, U256};

use super::config::Fork;

/// A validator that is there from the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenesisValidator {
    /// The account that owns stake and rewards.
    pub operator: Address,
    /// The address the node seals with.
    pub consensus: Address,
    /// Display name.
    pub moniker: String,
    /// Web address, may be empty.
    pub website: String,
    /// Commission in basis points.
    pub commission_bps: u16,
}

/// What an operator decides about a new network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenesisSpec {
    /// Chain id.
    pub chain_id: u64,
    /// Time of block 0; keep it in the past.
    pub timestamp: u64,
    /// Gas limit of block 0.
    pub gas_limit: u64,
    /// EVM rules.
    pub fork: Fork,
    /// Seconds between blocks.
    pub block_period_secs: u64,
    /// Blocks between restatements of the validator set.
    pub epoch_length: u64,
    /// Length of round 0.
    pub request_timeout_secs: u64,
    /// The first validators, 1 to 21; more than 5 start the program in a later phase.
    pub validators: Vec<GenesisValidator>,
    /// Owners of the treasury.
    pub treasury_owners: Vec<Address>,
    /// Signatures that move the treasury's coin.
    pub treasury_threshold: u64,
    /// Runs the registry.
    pub admin: Address,
    /// May slash.
    pub slasher: Address,
    /// Accounts with coin; amounts for the same account add up.
    pub funded: Vec<(Address, U256)>,
}

impl Default for GenesisSpec {
    /// The settings of our networks, without the people.
    fn default() -> Self {
        Self {
            chain_id: 8845,
            timestamp: 0,
            gas_limit: 500_000_000,
            fork: Fork::Shanghai,
            block_period_secs: 2,
            epoch_length: 30_000,
            request_timeout_secs: 4,
            validators: Vec::new(),
            treasury_owners: Vec::new(),
            treasury_threshold: 3,
            admin: Address::ZERO,
            slasher: Address::ZERO,
            funded: Vec::new(),
        }
    }
}
