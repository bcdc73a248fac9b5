//! The genesis of our networks: who validates, who is funded, who administers.

use std::fs;

use alloy_primitives::{Address, U256};
use anyhow::Context;
use devchain::genesis::{Fork, Genesis, GenesisSpec, GenesisValidator};
use domain::{Network, Wei, devnet};
use ibft::seal::ValidatorKey;

use crate::{
    cli::ForkChoice,
    config::Config,
    keys::{GENESIS_VALIDATORS, NetworkKeys},
};

/// 2026-01-01T00:00:00Z. Fixed, so that the same keys give the same genesis, and in the past, as Besu asks.
const TIMESTAMP: u64 = 1_767_225_600;
/// Room for 23,000 transfers in a block.
const GAS_LIMIT: u64 = 500_000_000;
const DEV_ACCOUNT_COIN: u64 = 1_000_000;
const FAUCET_COIN: u64 = 100_000_000;
pub(crate) const KEEPER_COIN: u64 = 10_000;
pub(crate) const ADMIN_COIN: u64 = 10_000;

/// The genesis to start from: the configured file, or the network's own.
pub(crate) fn load(config: &Config, keys: &NetworkKeys) -> anyhow::Result<Genesis> {
    let Some(file) = &config.node.genesis else { return build(config.network, keys, ForkChoice::default()) };
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    Genesis::from_json(&text).with_context(|| format!("{} is not a usable genesis file", file.display()))
}

/// Whom a genesis names, and whom it gives coin.
pub(crate) struct Founders {
    pub(crate) validators: Vec<GenesisValidator>,
    pub(crate) treasury_owners: Vec<Address>,
    pub(crate) admin: Address,
    pub(crate) keeper: Address,
    pub(crate) funded: Vec<(Address, U256)>,
}

/// The network's own genesis.
pub(crate) fn build(network: Network, keys: &NetworkKeys, fork: ForkChoice) -> anyhow::Result<Genesis> {
    let validators = keys.validators.iter().take(GENESIS_VALIDATORS).zip(1..);
    let founders = Founders {
        validators: validators.map(|(key, number)| validator(number, key.address(), key.address())).collect(),
        treasury_owners: keys.treasury_owners.to_vec(),
        admin: keys.admin,
        keeper: keys.keeper,
        funded: funded(network, keys),
    };
    found(network, fork, founders)
}

/// The genesis validator with this number, counted from 1.
pub(crate) fn validator(number: usize, operator: Address, consensus: Address) -> GenesisValidator {
    GenesisValidator {
        operator,
        consensus,
        moniker: format!("Genesis Validator {number}"),
        website: String::new(),
        commission_bps: 500,
    }
}

/// The genesis of a network with these founders.
pub(crate) fn found(network: Network, fork: ForkChoice, founders: Founders) -> anyhow::Result<Genesis> {
    let Founders { validators, treasury_owners, admin, keeper, funded } = founders;
    let spec = GenesisSpec {
        chain_id: network.chain_id(),
        timestamp: TIMESTAMP,
        gas_limit: GAS_LIMIT,
        fork: match fork {
            ForkChoice::London => Fork::London,
            ForkChoice::Shanghai => Fork::Shanghai,
            ForkChoice::Cancun => Fork::Cancun,
        },
        block_period_secs: 2,
        epoch_length: 30_000,
        request_timeout_secs: 4,
        validators,
        treasury_owners,
        treasury_threshold: 3,
        admin,
        slasher: keeper,
        funded,
    };
    spec.build().context("cannot build the genesis")
}

fn funded(network: Network, keys: &NetworkKeys) -> Vec<(Address, U256)> {
    let mut funded =
        vec![(keys.faucet, Wei::from_coin(FAUCET_COIN).0), (keys.keeper, Wei::from_coin(KEEPER_COIN).0)];
    match network {
        Network::Devnet => {
            funded.extend(
                devnet::ACCOUNTS.map(|account| (account.address, Wei::from_coin(DEV_ACCOUNT_COIN).0)),
            );
        }
        Network::Testnet | Network::Mainnet => funded.push((keys.admin, Wei::from_coin(ADMIN_COIN).0)),
    }
    funded
}
