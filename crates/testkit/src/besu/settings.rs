//! What a Besu has, by version and by the flags that it was started with.

use super::methods::Group;

/// How a Besu behaves where Besus differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BesuSettings {
    /// What it says to `web3_clientVersion`.
    pub client_version: String,
    /// Whether it has `eth_maxPriorityFeePerGas` (since 24.7.0).
    pub has_priority_fee: bool,
    /// Whether `eth_call` takes state overrides (since 24.12.0); before, they are passed over in silence.
    pub has_state_overrides: bool,
    /// Whether a message names the parameter that is wrong; before, all of them are "Invalid params".
    pub names_parameters: bool,
    /// Whether typed transactions carry `v` beside `yParity`.
    pub has_typed_v: bool,
    /// `--revert-reason-enabled`: whether receipts have `revertReason`.
    pub keeps_revert_reasons: bool,
    /// `--min-gas-price`: the least that `eth_gasPrice` answers and that a transaction may offer, in wei.
    pub min_gas_price: u64,
    /// `--rpc-http-api`.
    pub http_groups: Vec<Group>,
    /// `--rpc-ws-api`.
    pub socket_groups: Vec<Group>,
    /// `--rpc-http-max-active-connections`, and the same for WebSockets.
    pub max_connections: usize,
    /// `--rpc-http-max-batch-size`.
    pub max_batch: usize,
    /// `--rpc-http-max-request-content-length`, in bytes.
    pub max_body: usize,
    /// `--rpc-max-logs-range`, in blocks.
    pub max_log_range: u64,
    /// `--host-allowlist`.
    pub hosts: Vec<String>,
}

impl BesuSettings {
    /// Besu 24.5.4, the newest that runs on Java 17.
    pub fn v24_5_4() -> Self {
        Self {
            client_version: "besu/v24.5.4/linux-x86_64/openjdk-java-17".to_owned(),
            has_priority_fee: false,
            has_state_overrides: false,
            names_parameters: false,
            has_typed_v: false,
            keeps_revert_reasons: false,
            min_gas_price: 0,
            http_groups: vec![Group::Eth, Group::Net, Group::Web3, Group::Ibft],
            socket_groups: vec![Group::Eth, Group::Net, Group::Web3],
            max_connections: 80,
            max_batch: 1024,
            max_body: 5 * 1024 * 1024,
            max_log_range: 5000,
            hosts: vec!["localhost".to_owned(), "127.0.0.1".to_owned()],
        }
    }

    /// Besu 24.12.2, the newest of 24.x.
    pub fn v24_12_2() -> Self {
        Self {
            client_version: "besu/v24.12.2/linux-x86_64/openjdk-java-21".to_owned(),
            has_priority_fee: true,
            has_state_overrides: true,
            names_parameters: true,
            has_typed_v: true,
            keeps_revert_reasons: true,
            ..Self::v24_5_4()
        }
    }
}
