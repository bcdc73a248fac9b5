//! Settings of the chain: the embedded node, or the nodes to read from.

use std::{net::IpAddr, path::PathBuf};

use chain::remote::NodeUrl;

use crate::config::{
    setting::{
        About,
        DefaultValue::{Depends, Fixed},
        Setting, Shape,
    },
    value::{self, listed},
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
        commands: &["up", "node", "ctl", "doctor", "registry", "send", "validator"],
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
        commands: &[
            "up",
            "api",
            "gateway",
            "faucet",
            "explorer",
            "worker",
            "doctor",
            "portal",
            "registry",
            "send",
            "validator",
        ],
    },
    parse: value::nodes,
    show: |nodes| listed(nodes),
    secret: true,
};
