//! The table of settings: everything that can be configured, once.

mod access;
mod explorer;
mod faucet;
mod gateway;
mod portal;

use std::{net::IpAddr, num::NonZeroU32, path::PathBuf};

use chain::remote::NodeUrl;
use domain::Network;
use ipnet::IpNet;
use validators::mail::SmtpSettings;

pub(super) use self::{
    access::{INTERNAL_ALLOWLIST, KEY_RATE_LIMIT_MAX, REDIS_URL},
    explorer::{EXPLORER_HOST, EXPLORER_PORT},
    faucet::{FAUCET_DAILY_CAP, FAUCET_HOST, FAUCET_KEY, FAUCET_PORT},
    gateway::{GATEWAY_HOST, GATEWAY_PORT, GATEWAY_RATE_LIMIT_MAX},
    portal::{PORTAL_PEPPER, WEBHOOK_ALLOW_PRIVATE, WEBHOOK_KEY},
};
use super::{
    secret::SecretUrl,
    setting::{
        About,
        DefaultValue::{Depends, Fixed},
        Setting, Shape,
    },
    smtp,
    value::{self, LogFormat, Origins, listed},
};

/// The configuration file itself: a variable and a flag, but no key.
pub(in crate::config) const FILE: About = About {
    key: "",
    env: "CHAINNET_CONFIG",
    flag: "config",
    value: "FILE",
    meaning: "Configuration file",
    allowed: "a file in TOML",
    default: Depends("chainnet.toml in the working directory, if there is one"),
    shape: Shape::Text,
    commands: &[],
};

pub(in crate::config) const NETWORK: Setting<Network> = Setting {
    about: About {
        key: "network",
        env: "PLATFORM_NETWORK",
        flag: "network",
        value: "NETWORK",
        meaning: "Which network",
        allowed: "devnet, testnet, mainnet",
        default: Fixed("devnet"),
        shape: Shape::Text,
        commands: &[],
    },
    parse: value::network,
    show: Network::to_string,
    secret: false,
};

pub(in crate::config) const DATA: Setting<PathBuf> = Setting {
    about: About {
        key: "data",
        env: "CHAINNET_DATA",
        flag: "data",
        value: "FOLDER",
        meaning: "Data directory",
        allowed: "a folder that can be written",
        default: Depends("data/ and the network's name"),
        shape: Shape::Text,
        commands: &[],
    },
    parse: value::path,
    show: |path| path.display().to_string(),
    secret: false,
};

pub(in crate::config) const DEPLOYMENTS: Setting<PathBuf> = Setting {
    about: About {
        key: "deployments",
        env: "PLATFORM_DEPLOYMENTS",
        flag: "deployments",
        value: "FOLDER",
        meaning: "Folder of deployment records that replace the built-in ones",
        allowed: "a folder with the network's record, such as testnet.json",
        default: Depends("the built-in records"),
        shape: Shape::Text,
        commands: &[],
    },
    parse: value::path,
    show: |path| path.display().to_string(),
    secret: false,
};

pub(in crate::config) const LOG_FORMAT: Setting<LogFormat> = Setting {
    about: About {
        key: "log.format",
        env: "LOG_FORMAT",
        flag: "log-format",
        value: "FORMAT",
        meaning: "How log lines look",
        allowed: "text, json",
        default: Fixed("text"),
        shape: Shape::Text,
        commands: &[],
    },
    parse: value::log_format,
    show: |format| match format {
        LogFormat::Text => "text".to_owned(),
        LogFormat::Json => "json".to_owned(),
    },
    secret: false,
};

pub(in crate::config) const LOG_FILTER: Setting<String> = Setting {
    about: About {
        key: "log.filter",
        env: "RUST_LOG",
        flag: "log-filter",
        value: "FILTER",
        meaning: "What is logged",
        allowed: "levels, for all or by module: warn,chainnet=debug",
        default: Fixed(
            "warn,chainnet=info,chainnet_access=info,chainnet_accounts=info,chainnet_devchain=info,\
             chainnet_faucet=info,chainnet_gateway=info,chainnet_indexer=info,chainnet_merchant=info,\
             chainnet_validators=info,chainnet_web=info,chainnet_webhooks=info",
        ),
        shape: Shape::Text,
        commands: &[],
    },
    parse: value::log_filter,
    show: String::clone,
    secret: false,
};

pub(in crate::config) const NODE_RPC_HOST: Setting<IpAddr> = Setting {
    about: About {
        key: "node.rpc_host",
        env: "NODE_RPC_HOST",
        flag: "rpc-host",
        value: "ADDRESS",
        meaning: "Address that the embedded node's JSON-RPC listens on",
        allowed: "an IPv4 or IPv6 address",
        default: Fixed("127.0.0.1"),
        shape: Shape::Text,
        commands: &["up", "node", "doctor"],
    },
    parse: value::host,
    show: IpAddr::to_string,
    secret: false,
};

pub(in crate::config) const NODE_RPC_PORT: Setting<u16> = Setting {
    about: About {
        key: "node.rpc_port",
        env: "NODE_RPC_PORT",
        flag: "rpc-port",
        value: "PORT",
        meaning: "Port of the embedded node's JSON-RPC, HTTP and WebSocket",
        allowed: "0 to 65535, 0 picks a free one",
        default: Depends("8545, testnet 8565"),
        shape: Shape::Number,
        commands: &["up", "node", "ctl", "doctor"],
    },
    parse: value::port,
    show: u16::to_string,
    secret: false,
};

pub(in crate::config) const NODE_GENESIS: Setting<PathBuf> = Setting {
    about: About {
        key: "node.genesis",
        env: "NODE_GENESIS",
        flag: "genesis",
        value: "FILE",
        meaning: "Genesis file of the embedded chain, in Besu's format",
        allowed: "a file",
        default: Depends("the network's own genesis"),
        shape: Shape::Text,
        commands: &["up", "node", "export", "import"],
    },
    parse: value::path,
    show: |path| path.display().to_string(),
    secret: false,
};

pub(in crate::config) const NODE_DEMO: Setting<bool> = Setting {
    about: About {
        key: "node.demo",
        env: "NODE_DEMO",
        flag: "demo",
        value: "SWITCH",
        meaning: "Whether a fresh embedded devnet is shown in use: a few payments of the well-known accounts 7 to 9, once",
        allowed: "true, false",
        default: Fixed("true"),
        shape: Shape::Switch,
        commands: &["up"],
    },
    parse: value::switch,
    show: bool::to_string,
    secret: false,
};

pub(in crate::config) const RPC_URL: Setting<Vec<NodeUrl>> = Setting {
    about: About {
        key: "chain.rpc_url",
        env: "PLATFORM_RPC_URL",
        flag: "rpc-url",
        value: "URLS",
        meaning: "Nodes to read the chain from; with one, no chain runs inside",
        allowed: "http, https, ws or wss URLs, the preferred one first",
        default: Depends("the deployment record's; if it names none, the embedded chain"),
        shape: Shape::List,
        commands: &["up", "api", "gateway", "faucet", "worker", "doctor", "portal"],
    },
    parse: value::nodes,
    show: |nodes| listed(nodes),
    secret: true,
};

pub(in crate::config) const DATABASE_URL: Setting<SecretUrl> = Setting {
    about: About {
        key: "database.url",
        env: "DATABASE_URL",
        flag: "database-url",
        value: "URL",
        meaning: "Where the index, the applications and the keys are kept",
        allowed: "sqlite:FILE or postgres://USER:PASSWORD@HOST/DATABASE",
        default: Depends("the SQLite file chainnet.db in the data directory"),
        shape: Shape::Text,
        commands: &[
            "up",
            "api",
            "gateway",
            "faucet",
            "worker",
            "doctor",
            "applications",
            "keys",
            "allowlist",
            "partner",
            "rate",
            "portal",
        ],
    },
    parse: value::database,
    show: SecretUrl::masked,
    secret: true,
};

pub(in crate::config) const API_HOST: Setting<IpAddr> = Setting {
    about: About {
        key: "api.host",
        env: "API_HOST",
        flag: "api-host",
        value: "ADDRESS",
        meaning: "Address that REST and GraphQL listen on",
        allowed: "an IPv4 or IPv6 address",
        default: Fixed("127.0.0.1"),
        shape: Shape::Text,
        commands: &["up", "api"],
    },
    parse: value::host,
    show: IpAddr::to_string,
    secret: false,
};

pub(in crate::config) const API_PORT: Setting<u16> = Setting {
    about: About {
        key: "api.port",
        env: "API_PORT",
        flag: "api-port",
        value: "PORT",
        meaning: "Port of REST and GraphQL",
        allowed: "0 to 65535, 0 picks a free one",
        default: Fixed("4000"),
        shape: Shape::Number,
        commands: &["up", "api"],
    },
    parse: value::port,
    show: u16::to_string,
    secret: false,
};

pub(in crate::config) const RATE_LIMIT_MAX: Setting<NonZeroU32> = Setting {
    about: About {
        key: "api.rate_limit_max",
        env: "RATE_LIMIT_MAX",
        flag: "rate-limit-max",
        value: "NUMBER",
        meaning: "Requests that one client address may make in a minute",
        allowed: "1 or more; for no limit a large number",
        default: Depends("100, mainnet 200"),
        shape: Shape::Number,
        commands: &["up", "api"],
    },
    parse: value::limit,
    show: NonZeroU32::to_string,
    secret: false,
};

pub(in crate::config) const CORS_ORIGINS: Setting<Origins> = Setting {
    about: About {
        key: "api.cors_origins",
        env: "CORS_ORIGINS",
        flag: "cors-origins",
        value: "ORIGINS",
        meaning: "Whose web pages may read the API's answers",
        allowed: "* for everybody, or origins such as https://example.org",
        default: Depends("devnet *, else the explorer and the main site of the deployment record"),
        shape: Shape::List,
        commands: &["up", "api"],
    },
    parse: value::origins,
    show: |origins| match origins {
        Origins::Any => "*".to_owned(),
        Origins::Only(origins) => listed(origins),
    },
    secret: false,
};

pub(in crate::config) const TRUSTED_PROXIES: Setting<Vec<IpNet>> = Setting {
    about: About {
        key: "api.trusted_proxies",
        env: "TRUSTED_PROXIES",
        flag: "trusted-proxies",
        value: "NETWORKS",
        meaning: "Proxies whose X-Forwarded-For is believed",
        allowed: "addresses and networks such as 10.0.0.0/8",
        default: Fixed(""),
        shape: Shape::List,
        commands: &["up", "api", "gateway", "faucet"],
    },
    parse: value::networks,
    show: |networks| listed(networks),
    secret: false,
};

pub(in crate::config) const SMTP_URL: Setting<SmtpSettings> = Setting {
    about: About {
        key: "mail.smtp_url",
        env: "SMTP_URL",
        flag: "smtp-url",
        value: "URL",
        meaning: "Mail server that takes the notices to applicants",
        allowed: "smtps://USER:PASSWORD@HOST or smtp://HOST",
        default: Depends("no mail is sent"),
        shape: Shape::Text,
        commands: &["up", "worker", "applications"],
    },
    parse: smtp::parse,
    show: smtp::shown,
    secret: true,
};

pub(in crate::config) const SMTP_FROM: Setting<String> = Setting {
    about: About {
        key: "mail.from",
        env: "SMTP_FROM",
        flag: "smtp-from",
        value: "SENDER",
        meaning: "Sender of the notices; needed with a mail server",
        allowed: "an e-mail address, also as NAME <ADDRESS>",
        default: Depends("none"),
        shape: Shape::Text,
        commands: &["up", "worker", "applications"],
    },
    parse: value::sender,
    show: String::clone,
    secret: false,
};

/// Every setting that has a key in the configuration file, in the order of the documentation.
pub const SETTINGS: [&About; 33] = [
    &NETWORK.about,
    &DATA.about,
    &DEPLOYMENTS.about,
    &LOG_FORMAT.about,
    &LOG_FILTER.about,
    &NODE_RPC_HOST.about,
    &NODE_RPC_PORT.about,
    &NODE_GENESIS.about,
    &NODE_DEMO.about,
    &RPC_URL.about,
    &DATABASE_URL.about,
    &API_HOST.about,
    &API_PORT.about,
    &RATE_LIMIT_MAX.about,
    &CORS_ORIGINS.about,
    &TRUSTED_PROXIES.about,
    &GATEWAY_HOST.about,
    &GATEWAY_PORT.about,
    &GATEWAY_RATE_LIMIT_MAX.about,
    &FAUCET_HOST.about,
    &FAUCET_PORT.about,
    &FAUCET_DAILY_CAP.about,
    &FAUCET_KEY.about,
    &EXPLORER_HOST.about,
    &EXPLORER_PORT.about,
    &PORTAL_PEPPER.about,
    &WEBHOOK_KEY.about,
    &WEBHOOK_ALLOW_PRIVATE.about,
    &INTERNAL_ALLOWLIST.about,
    &KEY_RATE_LIMIT_MAX.about,
    &REDIS_URL.about,
    &SMTP_URL.about,
    &SMTP_FROM.about,
];
