//! The chain as a whole.

use alloy_primitives::U256;
use async_graphql::SimpleObject;
use chain::Head;
use domain::deployment::{Deployment, NativeCurrency};
use serde::Serialize;
use utoipa::ToSchema;

use super::{CoinText, HashText, Long, TimeText, WeiText};

/// The chain and its head.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "Chain")]
pub(crate) struct ChainView {
    /// The network's name in paths and configuration.
    #[schema(example = "devnet")]
    network: String,
    /// The name people read.
    #[schema(example = "Private testnet")]
    name: String,
    /// EIP-155 chain id.
    #[schema(example = 8845)]
    chain_id: Long,
    /// The chain id as wallets write it.
    #[schema(example = "0x228d", pattern = "^0x[0-9a-f]+$")]
    chain_id_hex: String,
    /// How blocks are agreed on.
    #[schema(example = "IBFT 2.0")]
    consensus: String,
    /// Seconds between blocks.
    #[schema(example = 2)]
    block_time_seconds: u32,
    /// Height of the newest block.
    block_number: Long,
    /// The newest block.
    latest_block: HeadView,
    /// Wei that a transaction should offer for a unit of gas.
    gas_price_wei: WeiText,
    /// Validators that agree on the next block.
    #[schema(example = 5)]
    validator_count: u32,
    /// Stake of all members of the validator registry, in coin.
    total_staked: CoinText,
    /// The same in wei.
    total_staked_wei: WeiText,
    /// The coin that pays for gas.
    native_currency: NativeCurrencyView,
}

/// What is read from the node for [`ChainView`].
pub(crate) struct ChainReading {
    pub(crate) gas_price: U256,
    pub(crate) validator_count: u32,
    pub(crate) total_staked: U256,
}

impl ChainView {
    /// Seconds between blocks, fixed by the specification.
    const BLOCK_TIME_SECONDS: u32 = 2;

    pub(crate) fn new(deployment: &Deployment, head: &Head, reading: &ChainReading) -> Self {
        Self {
            network: deployment.network.name().to_owned(),
            name: deployment.network.title().to_owned(),
            chain_id: Long(deployment.chain_id),
            chain_id_hex: format!("{:#x}", deployment.chain_id),
            consensus: "IBFT 2.0".to_owned(),
            block_time_seconds: Self::BLOCK_TIME_SECONDS,
            block_number: Long(head.number()),
            latest_block: head.into(),
            gas_price_wei: WeiText(reading.gas_price),
            validator_count: reading.validator_count,
            total_staked: CoinText::of(reading.total_staked),
            total_staked_wei: WeiText(reading.total_staked),
            native_currency: (&deployment.wallet.native_currency).into(),
        }
    }
}

/// A block in short.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "Head")]
pub(crate) struct HeadView {
    /// Height.
    number: Long,
    /// On-chain hash.
    hash: HashText,
    /// When it was proposed.
    timestamp: TimeText,
}

impl From<&Head> for HeadView {
    fn from(head: &Head) -> Self {
        Self {
            number: Long(head.number()),
            hash: HashText(head.hash),
            timestamp: TimeText::from_unix(head.header.timestamp),
        }
    }
}

/// The native coin.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "NativeCurrency")]
pub(crate) struct NativeCurrencyView {
    /// Long name.
    #[schema(example = "Platform Network Coin")]
    name: String,
    /// Symbol.
    #[schema(example = "PNC")]
    symbol: String,
    /// Decimals, always 18.
    #[schema(example = 18)]
    decimals: u8,
}

impl From<&NativeCurrency> for NativeCurrencyView {
    fn from(currency: &NativeCurrency) -> Self {
        let NativeCurrency { name, symbol, decimals } = currency.clone();
        Self { name, symbol, decimals }
    }
}
