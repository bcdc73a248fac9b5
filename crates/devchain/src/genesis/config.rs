//! What a genesis file says, in the parts that the embedded chain supports.

use std::collections::BTreeMap;

use alloy_genesis::GenesisAccount;
use alloy_primitives::{Address, B64, B256, Bytes, U256};
use ibft::extra_data::{ExtraData, ExtraDataError};
use ibft::{BaseFee, IbftConfig};

/// The EVM rules, in force from block 0 on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fork {
    /// `londonBlock: 0`.
    London,
    /// `londonBlock: 0` and a `shanghaiTime` that is not after the genesis timestamp.
    #[default]
    Shanghai,
    /// The same with a `cancunTime`.
    Cancun,
}

/// The `config` section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainConfig {
    /// `chainId`.
    pub chain_id: u64,
    /// The EVM rules at genesis.
    pub fork: Fork,
    /// `cancunTime`, where Cancun comes later than genesis.
    pub cancun_time: Option<u64>,
    /// `zeroBaseFee`: blocks from 1 on have base fee 0.
    pub zero_base_fee: bool,
    /// `contractSizeLimit`, in bytes; `None` is the protocol's own limit.
    pub contract_size_limit: Option<u64>,
    /// The `ibft2` section.
    pub ibft2: Ibft2Config,
}

/// The `config.ibft2` section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ibft2Config {
    /// `blockperiodseconds`.
    pub block_period_secs: u64,
    /// `epochlength`.
    pub epoch_length: u64,
    /// `requesttimeoutseconds`.
    pub request_timeout_secs: u64,
    /// `blockreward`, in wei.
    pub block_reward: U256,
    /// `miningbeneficiary`: receives rewards and fees in the proposer's place.
    pub mining_beneficiary: Option<Address>,
}

impl Default for Ibft2Config {
    /// Besu's defaults.
    fn default() -> Self {
        let ibft = IbftConfig::default();
        Self {
            block_period_secs: ibft.block_period_secs,
            epoch_length: ibft.epoch_length,
            request_timeout_secs: ibft.request_timeout_secs,
            block_reward: U256::ZERO,
            mining_beneficiary: None,
        }
    }
}

/// What Cancun adds to the header of block 0, and to no later one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlobFields {
    /// `blobGasUsed`.
    pub gas_used: u64,
    /// `excessBlobGas`.
    pub excess_gas: u64,
    /// `parentBeaconBlockRoot`.
    pub parent_beacon_block_root: B256,
}

/// A genesis file.
///
/// Accounts are kept in one form only: a zero nonce, empty code, empty storage and zero slots are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Genesis {
    /// The `config` section.
    pub config: ChainConfig,
    /// `nonce`.
    pub nonce: B64,
    /// `timestamp`, in seconds.
    pub timestamp: u64,
    /// `extraData`, which decodes as IBFT 2.0 extra data.
    pub extra_data: Bytes,
    /// `gasLimit`.
    pub gas_limit: u64,
    /// `difficulty`.
    pub difficulty: U256,
    /// `mixHash`.
    pub mix_hash: B256,
    /// `coinbase`.
    pub coinbase: Address,
    /// `baseFeePerGas`; see [`super::DEFAULT_BASE_FEE`] for `None`.
    pub base_fee_per_gas: Option<u64>,
    /// `blobGasUsed`, `excessBlobGas` and `parentBeaconBlockRoot`: fields of a header that is Cancun from the start.
    pub blob: BlobFields,
    /// The accounts at genesis.
    pub alloc: BTreeMap<Address, GenesisAccount>,
}

impl Genesis {
    /// The first validators, ascending as block 1 states them.
    pub fn validators(&self) -> Result<Vec<Address>, ExtraDataError> {
        let mut validators = ExtraData::decode(&self.extra_data)?.validators;
        validators.sort_unstable();
        Ok(validators)
    }

    /// The settings of the consensus.
    pub fn ibft_config(&self) -> IbftConfig {
        let Ibft2Config { block_period_secs, epoch_length, request_timeout_secs, .. } = self.config.ibft2;
        IbftConfig {
            block_period_secs,
            epoch_length,
            request_timeout_secs,
            base_fee: if self.config.zero_base_fee { BaseFee::Zero } else { BaseFee::Eip1559 },
            ..IbftConfig::default()
        }
    }
}
