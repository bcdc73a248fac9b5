//! A genesis as JSON: the same bytes for the same genesis, in a form that Besu reads.

use std::collections::BTreeMap;

use alloy_genesis::GenesisAccount;
use alloy_primitives::{Address, B256, Bytes, U64, U256};
use serde::Serialize;

use super::config::{ChainConfig, Fork, Genesis, Ibft2Config};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct GenesisFile<'a> {
    config: ConfigSection,
    nonce: U64,
    timestamp: U64,
    extra_data: &'a Bytes,
    gas_limit: U64,
    difficulty: U256,
    mix_hash: B256,
    coinbase: Address,
    #[serde(skip_serializing_if = "Option::is_none")]
    base_fee_per_gas: Option<U64>,
    alloc: &'a BTreeMap<Address, GenesisAccount>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConfigSection {
    chain_id: u64,
    london_block: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    shanghai_time: Option<u64>,
    #[serde(skip_serializing_if = "is_false")]
    zero_base_fee: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    contract_size_limit: Option<u64>,
    ibft2: Ibft2Section,
}

#[derive(Serialize)]
struct Ibft2Section {
    blockperiodseconds: u64,
    epochlength: u64,
    requesttimeoutseconds: u64,
    #[serde(skip_serializing_if = "U256::is_zero")]
    blockreward: U256,
    #[serde(skip_serializing_if = "Option::is_none")]
    miningbeneficiary: Option<Address>,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl From<&ChainConfig> for ConfigSection {
    fn from(config: &ChainConfig) -> Self {
        let ChainConfig { chain_id, fork, zero_base_fee, contract_size_limit, ibft2 } = config;
        Self {
            chain_id: *chain_id,
            london_block: 0,
            shanghai_time: match fork {
                Fork::London => None,
                Fork::Shanghai => Some(0),
            },
            zero_base_fee: *zero_base_fee,
            contract_size_limit: *contract_size_limit,
            ibft2: ibft2.into(),
        }
    }
}

impl From<&Ibft2Config> for Ibft2Section {
    fn from(ibft2: &Ibft2Config) -> Self {
        Self {
            blockperiodseconds: ibft2.block_period_secs,
            epochlength: ibft2.epoch_length,
            requesttimeoutseconds: ibft2.request_timeout_secs,
            blockreward: ibft2.block_reward,
            miningbeneficiary: ibft2.mining_beneficiary,
        }
    }
}

impl Genesis {
    /// The file's text: indented by two, accounts and slots ascending, hexadecimal in lower case.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(&GenesisFile {
            config: (&self.config).into(),
            nonce: self.nonce.into(),
            timestamp: U64::from(self.timestamp),
            extra_data: &self.extra_data,
            gas_limit: U64::from(self.gas_limit),
            difficulty: self.difficulty,
            mix_hash: self.mix_hash,
            coinbase: self.coinbase,
            base_fee_per_gas: self.base_fee_per_gas.map(U64::from),
            alloc: &self.alloc,
        })?;
        text.push('\n');
        Ok(text)
    }
}
