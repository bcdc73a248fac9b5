//! Networks: the active one, its contracts, and all there are.

use std::collections::BTreeMap;

use domain::{
    Network,
    deployment::{Deployment, WalletNetwork},
};
use serde::Serialize;
use utoipa::ToSchema;

use super::{AddressText, Long, chain::NativeCurrencyView};

/// The active network.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NetworkView {
    /// The network's name in paths and configuration.
    #[schema(example = "devnet")]
    network: &'static str,
    /// The name people read.
    #[schema(example = "Private testnet")]
    name: &'static str,
    /// EIP-155 chain id.
    #[schema(example = 8845)]
    chain_id: Long,
    /// The chain id as wallets write it.
    #[schema(example = "0x228d", pattern = "^0x[0-9a-f]+$")]
    chain_id_hex: String,
    /// Who may use it.
    #[schema(example = "Invite-only")]
    access: String,
    /// The JSON-RPC gateway.
    #[schema(format = "uri", example = "http://127.0.0.1:8540")]
    rpc_url: String,
    /// The web explorer.
    #[schema(format = "uri", example = "http://127.0.0.1:3000")]
    explorer_url: String,
    /// The faucet, where there is one.
    #[schema(format = "uri", example = "http://127.0.0.1:4001")]
    faucet_url: Option<String>,
    /// What `wallet_addEthereumChain` takes (EIP-3085).
    wallet: WalletView,
}

impl From<&Deployment> for NetworkView {
    fn from(deployment: &Deployment) -> Self {
        Self {
            network: deployment.network.name(),
            name: deployment.network.title(),
            chain_id: Long(deployment.chain_id),
            chain_id_hex: format!("{:#x}", deployment.chain_id),
            access: deployment.access.clone(),
            rpc_url: deployment.urls.rpc.to_string(),
            explorer_url: deployment.urls.explorer.to_string(),
            faucet_url: deployment.urls.faucet.as_ref().map(ToString::to_string),
            wallet: (&deployment.wallet).into(),
        }
    }
}

/// A network as a wallet takes it (EIP-3085).
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct WalletView {
    /// Chain id in hex.
    #[schema(example = "0x228d", pattern = "^0x[0-9a-f]+$")]
    chain_id: String,
    /// Name that the wallet shows.
    #[schema(example = "Platform Private Testnet")]
    chain_name: String,
    /// The coin that pays for gas.
    native_currency: NativeCurrencyView,
    /// JSON-RPC addresses.
    #[schema(example = json!(["http://127.0.0.1:8540"]))]
    rpc_urls: Vec<String>,
    /// Explorers.
    #[schema(example = json!(["http://127.0.0.1:3000"]))]
    block_explorer_urls: Vec<String>,
}

impl From<&WalletNetwork> for WalletView {
    fn from(wallet: &WalletNetwork) -> Self {
        let texts = |urls: &[domain::WebUrl]| urls.iter().map(ToString::to_string).collect();
        Self {
            chain_id: wallet.chain_id.clone(),
            chain_name: wallet.chain_name.clone(),
            native_currency: (&wallet.native_currency).into(),
            rpc_urls: texts(&wallet.rpc_urls),
            block_explorer_urls: texts(&wallet.block_explorer_urls),
        }
    }
}

/// Where the network's contracts are.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ContractsView {
    /// The network's name in paths and configuration.
    #[schema(example = "devnet")]
    network: &'static str,
    /// EIP-155 chain id.
    #[schema(example = 8845)]
    chain_id: Long,
    /// Address by contract name.
    #[schema(example = json!({"PlatformValidatorRegistry": "0x0000000000000000000000000000000000008801"}))]
    contracts: BTreeMap<&'static str, AddressText>,
}

impl From<&Deployment> for ContractsView {
    fn from(deployment: &Deployment) -> Self {
        let contracts = deployment.contracts.named();
        Self {
            network: deployment.network.name(),
            chain_id: Long(deployment.chain_id),
            contracts: contracts.into_iter().map(|(name, address)| (name, AddressText(address))).collect(),
        }
    }
}

/// All networks of the product.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NetworksView {
    /// The one that this server serves.
    #[schema(example = "devnet")]
    active: &'static str,
    /// Each of them.
    networks: Vec<NetworkSummary>,
}

/// A network in short.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
struct NetworkSummary {
    /// The network's name in paths and configuration.
    #[schema(example = "testnet")]
    network: &'static str,
    /// The name people read.
    #[schema(example = "Public testnet")]
    name: &'static str,
    /// EIP-155 chain id.
    #[schema(example = 8847)]
    chain_id: Long,
    /// The chain id as wallets write it.
    #[schema(example = "0x228f", pattern = "^0x[0-9a-f]+$")]
    chain_id_hex: String,
    /// Validators at genesis.
    #[schema(example = 5)]
    validators: u32,
    /// Who may use it.
    #[schema(example = "Public")]
    access: &'static str,
}

impl NetworksView {
    pub(crate) fn new(active: Network) -> Self {
        Self { active: active.name(), networks: Network::ALL.map(NetworkSummary::from).into() }
    }
}

impl From<Network> for NetworkSummary {
    fn from(network: Network) -> Self {
        Self {
            network: network.name(),
            name: network.title(),
            chain_id: Long(network.chain_id()),
            chain_id_hex: format!("{:#x}", network.chain_id()),
            // The specification's table: five on each network at genesis.
            validators: 5,
            access: match network {
                Network::Devnet => "Invite-only",
                Network::Testnet | Network::Mainnet => "Public",
            },
        }
    }
}
