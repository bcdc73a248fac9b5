//! The genesis of each embedded network: who validates, who is funded, who administers.

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
const KEEPER_COIN: u64 = 10_000;
const ADMIN_COIN: u64 = 10_000;

/// The genesis to start from: the configured file, or the network's own.
pub(crate) fn load(config: &Config, keys: &NetworkKeys) -> anyhow::Result<Genesis> {
    let Some(file) = &config.node.genesis else { return build(config.network, keys, ForkChoice::default()) };
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    Genesis::from_json(&text).with_context(|| format!("{} is not a usable genesis file", file.display()))
}

/// The network's own genesis.
pub(crate) fn build(network: Network, keys: &NetworkKeys, fork: ForkChoice) -> anyhow::Result<Genesis> {
    let validators =
        keys.validators.iter().take(GENESIS_VALIDATORS).enumerate().map(|(index, key)| GenesisValidator {
            operator: key.address(),
            consensus: key.address(),
            moniker: format!("Genesis Validator {}", index + 1),
            website: String::new(),
            commission_bps: 500,
        });
    let spec = GenesisSpec {
        chain_id: network.chain_id(),
        timestamp: TIMESTAMP,
        gas_limit: GAS_LIMIT,
        fork: match fork {
            ForkChoice::London => Fork::London,
            ForkChoice::Shanghai => Fork::Shanghai,
        },
        block_period_secs: 2,
        epoch_length: 30_000,
        request_timeout_secs: 4,
        validators: validators.collect(),
        treasury_owners: keys.treasury_owners.to_vec(),
        treasury_threshold: 3,
        admin: keys.admin,
        slasher: keys.keeper,
        funded: funded(network, keys),
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
