//! Configuration: one table of settings, four layers, one value that the rest of the binary takes.
//!
//! Everything is checked before anything starts, and all problems are told at once. This is the only place that reads
//! the environment.

mod deployments;
mod file;
mod flags;
mod layers;
mod problem;
mod secret;
mod sections;
mod setting;
mod smtp;
mod table;
mod value;

#[cfg(test)]
mod tests;

use std::{
    net::{IpAddr, Ipv4Addr, SocketAddr},
    num::NonZeroU32,
    path::{Path, PathBuf},
    time::Duration,
};

use access::InternalAllowlist;
use chain::remote::NodeUrl;
use domain::{Deployment, Network, WebUrl, Wei, gas::DEFAULT_TRANSACTION_GAS_CAP};
use store::Db;
use validators::mail::SmtpSettings;

pub use deployments::Deployments;
pub(crate) use deployments::built_in as built_in_record;
pub(crate) use flags::{add_flags, given_flags};
pub use layers::{Effective, Given, Source};
pub use problem::{ConfigError, Problem};
pub use secret::{SecretKey, SecretUrl};
pub use sections::{
    AccessConfig, ApiConfig, ExplorerConfig, FaucetConfig, GasConfig, GatewayConfig, KeeperConfig, LogConfig,
    NodeConfig, PortalConfig,
};
pub use setting::{About, DefaultValue, Shape};
pub use table::SETTINGS;
pub use value::{LogFormat, Origins};

use layers::Layers;

/// Every setting with its default, as a file to copy from.
pub const DEFAULTS: &str = include_str!("../../../../config/default.toml");

const LOCALHOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
/// Requests in a minute, where the specification says nothing else.
const RATE_LIMIT: NonZeroU32 = NonZeroU32::new(100).unwrap();
/// Requests in a minute in production.
const RATE_LIMIT_MAINNET: NonZeroU32 = NonZeroU32::new(200).unwrap();

/// Mebibytes that the gateway may hold for its callers.
const BUFFER_MIB: NonZeroU32 = NonZeroU32::new(512).unwrap();

/// The configuration that counts.
#[derive(Debug)]
pub struct Config {
    /// The network.
    pub network: Network,
    /// Data directory.
    pub data: PathBuf,
    /// Deployment records of all networks.
    pub deployments: Deployments,
    /// Logging.
    pub log: LogConfig,
    /// The embedded node.
    pub node: NodeConfig,
    /// Nodes to read from; none when the chain runs inside.
    pub nodes: Vec<NodeUrl>,
    /// What gas costs, and how much of it a transaction may ask for.
    pub gas: GasConfig,
    /// The database.
    pub database: SecretUrl,
    /// Connections to it, where it is PostgreSQL.
    pub database_connections: NonZeroU32,
    /// REST and GraphQL.
    pub api: ApiConfig,
    /// The JSON-RPC gateway.
    pub gateway: GatewayConfig,
    /// The faucet.
    pub faucet: FaucetConfig,
    /// The explorer.
    pub explorer: ExplorerConfig,
    /// The developer and merchant portal.
    pub portal: PortalConfig,
    /// Who may ask.
    pub access: AccessConfig,
    /// Notices by mail, where a server is configured.
    pub mail: Option<SmtpSettings>,
    /// The keeper.
    pub keeper: KeeperConfig,
    /// What administers the registry, if not the network's own key.
    pub registry_key: Option<SecretKey>,
    /// Where metrics are served.
    pub metrics: SocketAddr,
    /// How long a process that is told to stop still serves.
    pub drain: Duration,
    effective: Vec<Effective>,
}

impl Config {
    /// Reads and checks everything. `working_dir` is where `chainnet.toml` is looked for.
    pub fn load(given: Given, working_dir: &Path) -> Result<Self, ConfigError> {
        let mut layers = Layers::new(given, working_dir);
        let network = layers.take(&table::NETWORK, Network::Devnet);
        let own_data = Path::new("data").join(network.name());
        let data = layers.take_or(&table::DATA, Some(own_data.clone()), Source::Default).unwrap_or(own_data);
        let folder = layers.take_or(&table::DEPLOYMENTS, None, Source::Default);
        let deployments = Deployments::read(folder.as_deref(), network)
            .map_err(|problems| problems.into_iter().for_each(|problem| layers.report(problem)))
            .ok();
        let record = deployments.as_ref().map(|deployments| deployments.of(network));
        let log = LogConfig {
            format: layers.take(&table::LOG_FORMAT, LogFormat::Text),
            filter: layers.take(&table::LOG_FILTER, String::new()),
        };
        let node = take_node(&mut layers, network);
        let nodes = take_nodes(&mut layers, record);
        let gas = take_gas(&mut layers, network);
        let own_database = SecretUrl::new(format!("sqlite:{}", data.join("chainnet.db").display()));
        let database = layers
            .take_or(&table::DATABASE_URL, Some(own_database.clone()), Source::Default)
            .unwrap_or(own_database);
        let database_connections = layers.take(&table::DATABASE_CONNECTIONS, Db::CONNECTIONS);
        let api = take_api(&mut layers, network, record);
        let gateway = take_gateway(&mut layers, network, &api);
        let faucet = take_faucet(&mut layers);
        let explorer = take_explorer(&mut layers);
        let portal = take_portal(&mut layers, network);
        let access = take_access(&mut layers);
        let mail = take_mail(&mut layers);
        let keeper = take_keeper(&mut layers);
        let registry_key = layers.take_or(&table::REGISTRY_KEY, None, Source::Default);
        let metrics_host = layers.take(&table::METRICS_HOST, LOCALHOST);
        let metrics = SocketAddr::new(metrics_host, layers.take(&table::METRICS_PORT, 0));
        let drain = Duration::from_secs(u64::from(layers.take(&table::DRAIN_SECONDS, 0)));
        let (deployments, effective) = layers.finish(deployments)?;
        Ok(Self {
            network,
            data,
            deployments,
            log,
            node,
            nodes,
            gas,
            database,
            database_connections,
            api,
            gateway,
            faucet,
            explorer,
            portal,
            access,
            mail,
            keeper,
            registry_key,
            metrics,
            drain,
            effective,
        })
    }

    /// Every setting as it counts, in the order of the table.
    pub fn effective(&self) -> &[Effective] {
        &self.effective
    }

    /// The record of the network that is served.
    pub fn deployment(&self) -> &Deployment {
        self.deployments.of(self.network)
    }

    /// The embedded chain's part of the data directory.
    pub fn chain_dir(&self) -> PathBuf {
        self.data.join("chain")
    }
}

fn take_node(layers: &mut Layers, network: Network) -> NodeConfig {
    let own_port = network.node_rpc_port();
    let host = layers.take(&table::NODE_RPC_HOST, LOCALHOST);
    let port = layers.take_or(&table::NODE_RPC_PORT, Some(own_port), Source::Default).unwrap_or(own_port);
    let genesis = layers.take_or(&table::NODE_GENESIS, None, Source::Default);
    let demo = layers.take(&table::NODE_DEMO, false);
    NodeConfig { rpc: SocketAddr::new(host, port), genesis, demo }
}

fn take_nodes(layers: &mut Layers, record: Option<&Deployment>) -> Vec<NodeUrl> {
    let recorded = record.and_then(|record| record.rpc_url.as_ref()).map(|url| value::nodes(url.as_str()));
    let recorded = recorded.and_then(|nodes| match nodes {
        Ok(nodes) => Some(nodes),
        Err(what) => {
            layers.report(Problem { place: "deployment record, key `rpcUrl`".to_owned(), what });
            None
        }
    });
    let source = if recorded.is_some() { Source::Deployment } else { Source::Default };
    layers.take_or(&table::RPC_URL, recorded, source).unwrap_or_default()
}

fn take_gas(layers: &mut Layers, network: Network) -> GasConfig {
    let own = network.default_min_gas_price();
    GasConfig {
        min_price: layers.take_or(&table::MIN_GAS_PRICE, Some(own), Source::Default).unwrap_or(own),
        transaction_cap: layers.take(&table::TX_GAS_CAP, DEFAULT_TRANSACTION_GAS_CAP),
    }
}

fn take_api(layers: &mut Layers, network: Network, record: Option<&Deployment>) -> ApiConfig {
    let host = layers.take(&table::API_HOST, LOCALHOST);
    let port = layers.take(&table::API_PORT, 0);
    let own_origins = record.map_or(Origins::Any, own_origins);
    let (own_limit, own_origins) = match network {
        Network::Devnet => (RATE_LIMIT, Origins::Any),
        Network::Testnet => (RATE_LIMIT, own_origins),
        Network::Mainnet => (RATE_LIMIT_MAINNET, own_origins),
    };
    let rate_limit =
        layers.take_or(&table::RATE_LIMIT_MAX, Some(own_limit), Source::Default).unwrap_or(own_limit);
    let developer_key_rate_limit = layers.take(&table::DEVELOPER_KEY_RATE_LIMIT_MAX, RATE_LIMIT);
    let cors = layers.take_or(&table::CORS_ORIGINS, Some(own_origins), Source::Default);
    ApiConfig {
        listen: SocketAddr::new(host, port),
        rate_limit,
        developer_key_rate_limit,
        cors: cors.unwrap_or(Origins::Any),
        trusted_proxies: layers.take(&table::TRUSTED_PROXIES, Vec::new()),
    }
}

fn own_origins(record: &Deployment) -> Origins {
    let mut origins = vec![record.urls.explorer.origin()];
    origins.extend(record.urls.site.as_ref().map(WebUrl::origin).filter(|site| !origins.contains(site)));
    Origins::Only(origins)
}

fn take_gateway(layers: &mut Layers, network: Network, api: &ApiConfig) -> GatewayConfig {
    let own_port = network.gateway_port();
    let host = layers.take(&table::GATEWAY_HOST, LOCALHOST);
    let port = layers.take_or(&table::GATEWAY_PORT, Some(own_port), Source::Default).unwrap_or(own_port);
    let rate_limit = layers.take(&table::GATEWAY_RATE_LIMIT_MAX, RATE_LIMIT);
    // Anybody's pages may use a public network, as with every public endpoint of a chain; a private one is its operator's.
    let own_origins = match network {
        Network::Devnet => api.cors.clone(),
        Network::Testnet | Network::Mainnet => Origins::Any,
    };
    let cors = layers.take_or(&table::GATEWAY_CORS_ORIGINS, Some(own_origins), Source::Default);
    let buffer_mib = layers.take(&table::GATEWAY_BUFFER_MIB, BUFFER_MIB);
    GatewayConfig {
        listen: SocketAddr::new(host, port),
        rate_limit,
        cors: cors.unwrap_or(Origins::Any),
        buffer_mib,
    }
}

fn take_faucet(layers: &mut Layers) -> FaucetConfig {
    let host = layers.take(&table::FAUCET_HOST, LOCALHOST);
    let port = layers.take(&table::FAUCET_PORT, 0);
    FaucetConfig {
        listen: SocketAddr::new(host, port),
        daily_cap: layers.take(&table::FAUCET_DAILY_CAP, Wei::default()),
        key: layers.take_or(&table::FAUCET_KEY, None, Source::Default),
    }
}

fn take_explorer(layers: &mut Layers) -> ExplorerConfig {
    let host = layers.take(&table::EXPLORER_HOST, LOCALHOST);
    let port = layers.take(&table::EXPLORER_PORT, 0);
    ExplorerConfig { listen: SocketAddr::new(host, port) }
}

fn take_portal(layers: &mut Layers, network: Network) -> PortalConfig {
    let allowed = network == Network::Devnet;
    PortalConfig {
        pepper: layers.take_or(&table::PORTAL_PEPPER, None, Source::Default),
        webhook_key: layers.take_or(&table::WEBHOOK_KEY, None, Source::Default),
        webhook_allow_private: layers
            .take_or(&table::WEBHOOK_ALLOW_PRIVATE, Some(allowed), Source::Default)
            .unwrap_or(allowed),
    }
}

fn take_access(layers: &mut Layers) -> AccessConfig {
    AccessConfig {
        internal: layers
            .take_or(&table::INTERNAL_ALLOWLIST, None, Source::Default)
            .map(InternalAllowlist::new)
            .unwrap_or_default(),
        key_rate_limit: layers.take(&table::KEY_RATE_LIMIT_MAX, RATE_LIMIT),
        redis: layers.take_or(&table::REDIS_URL, None, Source::Default),
    }
}

fn take_mail(layers: &mut Layers) -> Option<SmtpSettings> {
    let smtp = layers.take_or(&table::SMTP_URL, None, Source::Default);
    let from = layers.take_or(&table::SMTP_FROM, None, Source::Default);
    match (smtp, from) {
        (Some(smtp), Some(from)) => Some(SmtpSettings { from, ..smtp }),
        (Some(_), None) => {
            let about = &table::SMTP_FROM.about;
            let what = format!("missing, but there is a mail server (allowed: {})", about.allowed);
            layers.report(Problem { place: format!("{} ({})", about.key, about.env), what });
            None
        }
        (None, _) => None,
    }
}

fn take_keeper(layers: &mut Layers) -> KeeperConfig {
    KeeperConfig {
        key: layers.take_or(&table::KEEPER_KEY, None, Source::Default),
        auto_slash: layers.take(&table::KEEPER_AUTO_SLASH, false),
        auto_vote: layers.take(&table::KEEPER_AUTO_VOTE, false),
        voters: layers.take_or(&table::KEEPER_VOTER_URLS, None, Source::Default).unwrap_or_default(),
    }
}
