//! Settings of every command: network, folders, log.

use std::path::PathBuf;

use domain::Network;

use crate::config::{
    setting::{
        About,
        DefaultValue::{Depends, Fixed},
        Setting, Shape,
    },
    value::{self, LogFormat},
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
             chainnet_faucet=info,chainnet_gateway=info,chainnet_indexer=info,chainnet_keeper=info,chainnet_merchant=info,\
             chainnet_validators=info,chainnet_web=info,chainnet_webhooks=info",
        ),
        shape: Shape::Text,
        commands: &[],
    },
    parse: value::log_filter,
    show: String::clone,
    secret: false,
};
