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
    #[serde(skip_serializing_if = "U64::is_zero")]
    blob_gas_used: U64,
    #[serde(skip_serializing_if = "U64::is_zero")]
    excess_blob_gas: U64,
    #[serde(skip_serializing_if = "B256::is_zero")]
    parent_beacon_block_root: B256,
    alloc: &'a BTreeMap<Address, GenesisAccount>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ConfigSection {
    chain_id: u64,
    london_block: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    shanghai_time: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cancun_time: Option<u64>,
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
        let ChainConfig { chain_id, fork, cancun_time, zero_base_fee, contract_size_limit, ibft2 } = config;
        Self {
            chain_id: *chain_id,
            london_block: 0,
            shanghai_time: (*fork >= Fork::Shanghai).then_some(0),
            cancun_time: if *fork >= Fork::Cancun { Some(0) } else { *cancun_time },
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
            blob_gas_used: U64::from(self.blob.gas_used),
            excess_blob_gas: U64::from(self.blob.excess_gas),
            parent_beacon_block_root: self.blob.parent_beacon_block_root,
            alloc: &self.alloc,
        })?;
        text.push('\n');
        Ok(text)
    }
}
