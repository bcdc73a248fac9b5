//! A genesis file read as Besu reads it: keys in any case, numbers as JSON numbers, decimal or 0x-hex strings.
//!
//! Strict where Besu would run another chain than ours: a `config` key that we do not know, a fork that starts later
//! (Cancun excepted) or is newer than Cancun, and another consensus are errors. Unknown keys elsewhere are ignored, as Besu does.

use std::collections::BTreeMap;

use alloy_genesis::GenesisAccount;
use alloy_primitives::{Address, B64, B256, Bytes, U256};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::config::{BlobFields, ChainConfig, Fork, Genesis, Ibft2Config};
use super::error::GenesisError;

/// Forks that London includes; a file may name them, but only at block 0.
const EARLIER_FORKS: [&str; 11] = [
    "homesteadblock",
    "eip150block",
    "eip155block",
    "eip158block",
    "byzantiumblock",
    "constantinopleblock",
    "constantinoplefixblock",
    "petersburgblock",
    "istanbulblock",
    "muirglacierblock",
    "berlinblock",
];

/// Settings without an effect on the embedded chain.
const WITHOUT_EFFECT: [&str; 2] = ["discovery", "eip150hash"];

/// The file with lower-case keys, before its values are judged.
#[derive(Deserialize)]
struct RawGenesis {
    config: Option<Map<String, Value>>,
    nonce: Option<U256>,
    timestamp: Option<U256>,
    extradata: Option<Bytes>,
    gaslimit: Option<U256>,
    difficulty: Option<U256>,
    mixhash: Option<B256>,
    coinbase: Option<Address>,
    basefeepergas: Option<U256>,
    blobgasused: Option<U256>,
    excessblobgas: Option<U256>,
    parentbeaconblockroot: Option<B256>,
    #[serde(default)]
    alloc: BTreeMap<Address, RawAccount>,
}

#[derive(Deserialize)]
struct RawAccount {
    #[serde(default)]
    balance: U256,
    #[serde(default)]
    nonce: U256,
    #[serde(default)]
    code: Bytes,
    #[serde(default)]
    storage: BTreeMap<Word, Word>,
}

/// A storage key or value: hexadecimal of any length, with or without prefix.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(try_from = "String")]
struct Word(B256);

impl TryFrom<String> for Word {
    type Error = alloy_primitives::ruint::ParseError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        let digits = text.strip_prefix("0x").unwrap_or(&text);
        U256::from_str_radix(digits, 16).map(|number| Self(number.into()))
    }
}

impl Genesis {
    /// Reads the text of a `genesis.json`.
    pub fn from_json(text: &str) -> Result<Self, GenesisError> {
        let value = lower_keys(serde_json::from_str(text).map_err(GenesisError::Json)?)?;
        let raw: RawGenesis = read("genesis", value)?;
        let timestamp = narrow("timestamp", raw.timestamp.unwrap_or_default())?;
        let genesis = Self {
            config: read_config(raw.config.ok_or(missing("config"))?, timestamp)?,
            nonce: B64::from(narrow("nonce", raw.nonce.unwrap_or_default())?),
            timestamp,
            extra_data: raw.extradata.ok_or(missing("extradata"))?,
            gas_limit: narrow("gaslimit", raw.gaslimit.ok_or(missing("gaslimit"))?)?,
            difficulty: raw.difficulty.ok_or(missing("difficulty"))?,
            mix_hash: raw.mixhash.unwrap_or_default(),
            coinbase: raw.coinbase.unwrap_or_default(),
            base_fee_per_gas: raw.basefeepergas.map(|fee| narrow("basefeepergas", fee)).transpose()?,
            blob: BlobFields {
                gas_used: narrow("blobgasused", raw.blobgasused.unwrap_or_default())?,
                excess_gas: narrow("excessblobgas", raw.excessblobgas.unwrap_or_default())?,
                parent_beacon_block_root: raw.parentbeaconblockroot.unwrap_or_default(),
            },
            alloc: raw
                .alloc
                .into_iter()
                .map(|(address, account)| Ok((address, read_account(account)?)))
                .collect::<Result<_, GenesisError>>()?,
        };
        if genesis.validators()?.is_empty() {
            return Err(GenesisError::NoValidators);
        }
        Ok(genesis)
    }
}

fn read_account(raw: RawAccount) -> Result<GenesisAccount, GenesisError> {
    let nonce = narrow("nonce", raw.nonce)?;
    let storage: BTreeMap<_, _> = raw
        .storage
        .into_iter()
        .map(|(key, value)| (key.0, value.0))
        .filter(|(_, value)| !value.is_zero())
        .collect();
    Ok(GenesisAccount {
        nonce: (nonce != 0).then_some(nonce),
        balance: raw.balance,
        code: (!raw.code.is_empty()).then_some(raw.code),
        storage: (!storage.is_empty()).then_some(storage),
        ..GenesisAccount::default()
    })
}

fn read_config(section: Map<String, Value>, timestamp: u64) -> Result<ChainConfig, GenesisError> {
    // Besu's default for BFT chains.
    let mut chain_id = 1;
    let (mut london, mut shanghai, mut zero_base_fee, mut contract_size_limit, mut ibft2) =
        (false, false, false, None, None);
    let mut cancun_time = None;
    for (key, value) in section {
        match key.as_str() {
            "chainid" => chain_id = number(&key, value)?,
            "londonblock" => london = starts_by(0, &key, value)?,
            "shanghaitime" => shanghai = starts_by(timestamp, &key, value)?,
            "cancuntime" => cancun_time = Some(number(&key, value)?),
            "zerobasefee" => zero_base_fee = read(&key, value)?,
            "contractsizelimit" => contract_size_limit = Some(number(&key, value)?),
            "ibft2" => ibft2 = Some(read_ibft2(read(&key, value)?)?),
            earlier if EARLIER_FORKS.contains(&earlier) => {
                starts_by(0, &key, value)?;
            }
            ignored if WITHOUT_EFFECT.contains(&ignored) => {}
            _ => return Err(GenesisError::Unsupported { key }),
        }
    }
    if !london {
        return Err(missing("config.londonblock"));
    }
    if let (Some(activation), false) = (cancun_time, shanghai) {
        return Err(GenesisError::CancunWithoutShanghai { activation });
    }
    let later_cancun = cancun_time.filter(|time| *time > timestamp);
    Ok(ChainConfig {
        chain_id,
        fork: match (shanghai, cancun_time.is_some() && later_cancun.is_none()) {
            (false, _) => Fork::London,
            (true, false) => Fork::Shanghai,
            (true, true) => Fork::Cancun,
        },
        cancun_time: later_cancun,
        zero_base_fee,
        contract_size_limit,
        ibft2: ibft2.ok_or(missing("config.ibft2"))?,
    })
}

fn read_ibft2(section: Map<String, Value>) -> Result<Ibft2Config, GenesisError> {
    let mut ibft2 = Ibft2Config::default();
    for (key, value) in section {
        match key.as_str() {
            "blockperiodseconds" => ibft2.block_period_secs = positive(&key, value)?,
            "epochlength" => ibft2.epoch_length = positive(&key, value)?,
            "requesttimeoutseconds" => ibft2.request_timeout_secs = positive(&key, value)?,
            "blockreward" => ibft2.block_reward = read(&key, value)?,
            "miningbeneficiary" if is_blank(&value) => {}
            "miningbeneficiary" => ibft2.mining_beneficiary = Some(read(&key, value)?),
            // Tuning of Besu's network layer.
            "messagequeuelimit"
            | "duplicatemessagelimit"
            | "futuremessageslimit"
            | "futuremessagesmaxdistance"
            | "gossipedhistorylimit" => {}
            // Read by QBFT only.
            "xemptyblockperiodseconds" => {}
            _ => {
                return Err(GenesisError::Unsupported { key: format!("ibft2.{key}") });
            }
        }
    }
    Ok(ibft2)
}

fn is_blank(value: &Value) -> bool {
    value.as_str().is_some_and(|text| text.trim().is_empty())
}

/// Checks that a fork is in force at genesis; always true, so that its presence can be noted.
fn starts_by(latest: u64, key: &str, value: Value) -> Result<bool, GenesisError> {
    let activation: U256 = read(key, value)?;
    if activation > U256::from(latest) {
        return Err(GenesisError::ForkAfterGenesis { key: key.to_owned(), activation });
    }
    Ok(true)
}

const fn missing(key: &'static str) -> GenesisError {
    GenesisError::MissingKey { key }
}

fn read<T: DeserializeOwned>(key: &str, value: Value) -> Result<T, GenesisError> {
    serde_json::from_value(value).map_err(|source| GenesisError::Malformed { key: key.to_owned(), source })
}

fn narrow(key: &str, value: U256) -> Result<u64, GenesisError> {
    u64::try_from(value).map_err(|_| GenesisError::OutOfRange { key: key.to_owned(), value })
}

fn number(key: &str, value: Value) -> Result<u64, GenesisError> {
    narrow(key, read(key, value)?)
}

fn positive(key: &str, value: Value) -> Result<u64, GenesisError> {
    match number(key, value)? {
        0 => Err(GenesisError::OutOfRange { key: key.to_owned(), value: U256::ZERO }),
        seconds => Ok(seconds),
    }
}

fn lower_keys(value: Value) -> Result<Value, GenesisError> {
    let Value::Object(entries) = value else {
        return Ok(value);
    };
    let mut lowered = Map::new();
    for (key, value) in entries {
        let key = key.to_ascii_lowercase();
        if lowered.insert(key.clone(), lower_keys(value)?).is_some() {
            return Err(GenesisError::DuplicateKey { key });
        }
    }
    Ok(Value::Object(lowered))
}
