//! The deployment record of a network: where its chain, its contracts and its public services are.
//!
//! A record is read whole or not at all: unknown keys, wrong checksums and contradictions are refused. Where the files
//! are and which of them counts is for the binary to decide.

mod error;
mod nodes;

use alloy_primitives::Address;
use serde::{Deserialize, Deserializer, Serialize, de::Error};

use crate::{Network, WebUrl, amount};

pub use error::{DeploymentError, DeploymentProblem};
pub use nodes::RecordedNodes;

/// The deployment record of a network.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Deployment {
    /// The network it describes.
    pub network: Network,
    /// EIP-155 chain id; the network's own.
    pub chain_id: u64,
    /// Who may use the network, in a word or two.
    pub access: String,
    /// Validators at genesis.
    pub validators: u32,
    /// The nodes to read from; none when the chain runs inside the process.
    #[serde(deserialize_with = "present")]
    pub rpc_url: Option<RecordedNodes>,
    /// First block that can hold something of our contracts.
    pub start_block: u64,
    /// What a wallet needs to add the network.
    pub wallet: WalletNetwork,
    /// Where the public services are.
    pub urls: PublicUrls,
    /// Where the contracts are.
    pub contracts: ContractAddresses,
}

/// A network as a wallet takes it (EIP-3085).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WalletNetwork {
    /// Chain id in hex.
    pub chain_id: String,
    /// Name that the wallet shows.
    pub chain_name: String,
    /// The coin that pays for gas.
    pub native_currency: NativeCurrency,
    /// JSON-RPC addresses that the wallet may use.
    pub rpc_urls: Vec<WebUrl>,
    /// Explorers that the wallet links to.
    pub block_explorer_urls: Vec<WebUrl>,
}

/// The native coin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NativeCurrency {
    /// Long name.
    pub name: String,
    /// Symbol, such as on an exchange.
    pub symbol: String,
    /// Always 18: amounts are counted in 10^-18.
    pub decimals: u8,
}

/// Where the public services are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PublicUrls {
    /// REST and GraphQL.
    pub api: WebUrl,
    /// The JSON-RPC gateway.
    pub rpc: WebUrl,
    /// The web explorer.
    pub explorer: WebUrl,
    /// The faucet, where there is one.
    #[serde(deserialize_with = "present")]
    pub faucet: Option<WebUrl>,
    /// The main site, whose pages may call the API.
    #[serde(deserialize_with = "present")]
    pub site: Option<WebUrl>,
}

/// Where the contracts are.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
#[expect(missing_docs, reason = "each field is the contract of that name")]
pub struct ContractAddresses {
    #[serde(deserialize_with = "checksummed")]
    pub platform_validator_registry: Address,
    #[serde(deserialize_with = "checksummed")]
    pub platform_fees: Address,
    #[serde(deserialize_with = "checksummed")]
    pub platform_checkout: Address,
    #[serde(deserialize_with = "checksummed")]
    pub treasury: Address,
    #[serde(rename = "SafeL2", deserialize_with = "checksummed")]
    pub safe_l2: Address,
    #[serde(deserialize_with = "checksummed")]
    pub safe_proxy_factory: Address,
    #[serde(deserialize_with = "checksummed")]
    pub compatibility_fallback_handler: Address,
    #[serde(deserialize_with = "checksummed")]
    pub multi_send_call_only: Address,
    #[serde(rename = "Multicall3", deserialize_with = "checksummed")]
    pub multicall3: Address,
    #[serde(rename = "Create2Deployer", deserialize_with = "checksummed")]
    pub create2_deployer: Address,
}

impl ContractAddresses {
    /// Every contract with the name users know it by.
    pub fn named(&self) -> [(&'static str, Address); 10] {
        [
            ("PlatformValidatorRegistry", self.platform_validator_registry),
            ("PlatformFees", self.platform_fees),
            ("PlatformCheckout", self.platform_checkout),
            ("Treasury", self.treasury),
            ("SafeL2", self.safe_l2),
            ("SafeProxyFactory", self.safe_proxy_factory),
            ("CompatibilityFallbackHandler", self.compatibility_fallback_handler),
            ("MultiSendCallOnly", self.multi_send_call_only),
            ("Multicall3", self.multicall3),
            ("Create2Deployer", self.create2_deployer),
        ]
    }
}

impl Deployment {
    /// Reads the record of `network`. All contradictions are reported, but only the first thing that is no record.
    pub fn from_json(network: Network, text: &str) -> Result<Self, DeploymentError> {
        let mut reader = serde_json::Deserializer::from_str(text);
        let record: Self = serde_path_to_error::deserialize(&mut reader).map_err(|error| {
            let key = error.path().to_string();
            DeploymentError::new(vec![DeploymentProblem::Malformed { key, source: error.into_inner() }])
        })?;
        reader.end().map_err(|source| {
            DeploymentError::new(vec![DeploymentProblem::Malformed { key: ".".to_owned(), source }])
        })?;
        let problems = record.problems(network);
        if problems.is_empty() { Ok(record) } else { Err(DeploymentError::new(problems)) }
    }

    fn problems(&self, network: Network) -> Vec<DeploymentProblem> {
        let mut problems = Vec::new();
        let mut expect = |key: &'static str, found: String, expected: String| {
            if found != expected {
                problems.push(DeploymentProblem::Unexpected { key, found, expected });
            }
        };
        expect("network", self.network.to_string(), network.to_string());
        expect("chainId", self.chain_id.to_string(), network.chain_id().to_string());
        expect("wallet.chainId", self.wallet.chain_id.clone(), network.chain_id_hex());
        let decimals = self.wallet.native_currency.decimals.to_string();
        expect("wallet.nativeCurrency.decimals", decimals, amount::DECIMALS.to_string());
        problems.extend(self.empty_values().map(DeploymentProblem::Empty));
        problems.extend(
            self.public_urls()
                .filter(|(_, url)| !url.is_private())
                .map(|(key, url)| DeploymentProblem::Readable { key, url: url.to_string() }),
        );
        problems
    }

    fn empty_values(&self) -> impl Iterator<Item = &'static str> {
        let wallet = &self.wallet;
        [
            ("access", self.access.trim().is_empty()),
            ("validators", self.validators == 0),
            ("wallet.chainName", wallet.chain_name.trim().is_empty()),
            ("wallet.nativeCurrency.name", wallet.native_currency.name.trim().is_empty()),
            ("wallet.nativeCurrency.symbol", wallet.native_currency.symbol.trim().is_empty()),
            ("wallet.rpcUrls", wallet.rpc_urls.is_empty()),
            ("wallet.blockExplorerUrls", wallet.block_explorer_urls.is_empty()),
        ]
        .into_iter()
        .filter_map(|(key, is_empty)| is_empty.then_some(key))
    }

    fn public_urls(&self) -> impl Iterator<Item = (&'static str, &WebUrl)> {
        let urls = &self.urls;
        [("urls.api", &urls.api), ("urls.rpc", &urls.rpc), ("urls.explorer", &urls.explorer)]
            .into_iter()
            .chain(urls.faucet.iter().map(|url| ("urls.faucet", url)))
            .chain(urls.site.iter().map(|url| ("urls.site", url)))
            .chain(self.wallet.rpc_urls.iter().map(|url| ("wallet.rpcUrls", url)))
            .chain(self.wallet.block_explorer_urls.iter().map(|url| ("wallet.blockExplorerUrls", url)))
    }
}

/// A value that may be null but must be there: nothing is decided by leaving a key out.
fn present<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(from)
}

fn checksummed<'de, D: Deserializer<'de>>(from: D) -> Result<Address, D::Error> {
    let text = String::deserialize(from)?;
    Address::parse_checksummed(&text, None)
        .map_err(|_| D::Error::custom(format_args!("`{text}` is not an address with an EIP-55 checksum")))
}

#[cfg(test)]
mod tests;
