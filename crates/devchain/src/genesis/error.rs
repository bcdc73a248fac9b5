//! Why a genesis file cannot be run.

use alloy_primitives::U256;
use ibft::extra_data::ExtraDataError;

/// Why a text is not a genesis that this chain can run. Keys are named in lower case.
#[derive(Debug, thiserror::Error)]
pub enum GenesisError {
    /// The text is not JSON.
    #[error("the genesis is not valid JSON")]
    Json(#[source] serde_json::Error),
    /// Two keys differ in case only.
    #[error("key `{key}` occurs twice")]
    DuplicateKey {
        /// The key in lower case.
        key: String,
    },
    /// A key that must be there is not.
    #[error("key `{key}` is missing")]
    MissingKey {
        /// The key.
        key: &'static str,
    },
    /// A value has the wrong type or form.
    #[error("the value of `{key}` is malformed")]
    Malformed {
        /// The key.
        key: String,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A number is too large or must not be zero.
    #[error("{value} is out of range for `{key}`")]
    OutOfRange {
        /// The key.
        key: String,
        /// The number.
        value: U256,
    },
    /// A setting that would make another chain than the one that is embedded.
    #[error("`config.{key}` is not supported")]
    Unsupported {
        /// The key.
        key: String,
    },
    /// A fork that starts after genesis.
    #[error("`config.{key}` must be in force at genesis, but starts at {activation}")]
    ForkAfterGenesis {
        /// The fork's key.
        key: String,
        /// Block or time it starts at.
        activation: U256,
    },
    /// Cancun on a chain that is not Shanghai from the start.
    #[error(
        "`config.cancuntime` is {activation}, but `config.shanghaitime` is missing: Cancun comes after Shanghai"
    )]
    CancunWithoutShanghai {
        /// Time Cancun starts at.
        activation: u64,
    },
    /// The extraData is not that of an IBFT 2.0 chain.
    #[error("the extra data is not IBFT 2.0 extra data")]
    ExtraData(#[from] ExtraDataError),
    /// Nobody could seal a block.
    #[error("the extra data names no validator")]
    NoValidators,
}
