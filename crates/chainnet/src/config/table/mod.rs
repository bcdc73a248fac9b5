//! The table of settings: everything that can be configured, once.

mod access;
mod api;
mod database;
mod explorer;
mod faucet;
mod gas;
mod gateway;
mod general;
mod keeper;
mod mail;
mod metrics;
mod node;
mod portal;

pub(super) use self::{
    access::{INTERNAL_ALLOWLIST, KEY_RATE_LIMIT_MAX, REDIS_URL},
    api::{API_HOST, API_PORT, CORS_ORIGINS, DEVELOPER_KEY_RATE_LIMIT_MAX, RATE_LIMIT_MAX, TRUSTED_PROXIES},
    database::{DATABASE_CONNECTIONS, DATABASE_URL},
    explorer::{EXPLORER_HOST, EXPLORER_PORT},
    faucet::{FAUCET_DAILY_CAP, FAUCET_HOST, FAUCET_KEY, FAUCET_PORT},
    gas::{MIN_GAS_PRICE, TX_GAS_CAP},
    gateway::{GATEWAY_BUFFER_MIB, GATEWAY_CORS_ORIGINS, GATEWAY_HOST, GATEWAY_PORT, GATEWAY_RATE_LIMIT_MAX},
    general::{DATA, DEPLOYMENTS, LOG_FILTER, LOG_FORMAT, NETWORK},
    keeper::{KEEPER_AUTO_SLASH, KEEPER_AUTO_VOTE, KEEPER_KEY, KEEPER_VOTER_URLS, REGISTRY_KEY},
    mail::{SMTP_FROM, SMTP_URL},
    metrics::{DRAIN_SECONDS, METRICS_HOST, METRICS_PORT},
    node::{NODE_DEMO, NODE_GENESIS, NODE_RPC_HOST, NODE_RPC_PORT, RPC_URL},
    portal::{PORTAL_PEPPER, WEBHOOK_ALLOW_PRIVATE, WEBHOOK_KEY},
};
use super::setting::{About, DefaultValue::Depends, Shape};

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

/// Every setting that has a key in the configuration file, in the order of the documentation.
pub const SETTINGS: [&About; 47] = [
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
    &MIN_GAS_PRICE.about,
    &TX_GAS_CAP.about,
    &DATABASE_URL.about,
    &DATABASE_CONNECTIONS.about,
    &API_HOST.about,
    &API_PORT.about,
    &RATE_LIMIT_MAX.about,
    &DEVELOPER_KEY_RATE_LIMIT_MAX.about,
    &CORS_ORIGINS.about,
    &TRUSTED_PROXIES.about,
    &GATEWAY_HOST.about,
    &GATEWAY_PORT.about,
    &GATEWAY_RATE_LIMIT_MAX.about,
    &GATEWAY_CORS_ORIGINS.about,
    &GATEWAY_BUFFER_MIB.about,
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
    &KEEPER_KEY.about,
    &KEEPER_AUTO_SLASH.about,
    &KEEPER_AUTO_VOTE.about,
    &KEEPER_VOTER_URLS.about,
    &REGISTRY_KEY.about,
    &METRICS_HOST.about,
    &METRICS_PORT.about,
    &DRAIN_SECONDS.about,
];
