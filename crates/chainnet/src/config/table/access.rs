//! Settings of access: who is internal, and where limits are shared.

use std::num::NonZeroU32;

use ipnet::IpNet;

use crate::config::{
    secret::SecretUrl,
    setting::{
        About,
        DefaultValue::{Depends, Fixed},
        Setting, Shape,
    },
    value::{self, listed},
};

pub(in crate::config) const INTERNAL_ALLOWLIST: Setting<Vec<IpNet>> = Setting {
    about: About {
        key: "access.internal_allowlist",
        env: "INTERNAL_ALLOWLIST",
        flag: "internal-allowlist",
        value: "NETWORKS",
        meaning: "Addresses that may talk to the node's own port",
        allowed: "addresses and networks such as 10.0.0.0/8",
        default: Depends("this machine: 127.0.0.0/8 and ::1"),
        shape: Shape::List,
        commands: &["up", "node", "explorer"],
    },
    parse: value::networks,
    show: |networks| listed(networks),
    secret: false,
};

pub(in crate::config) const KEY_RATE_LIMIT_MAX: Setting<NonZeroU32> = Setting {
    about: About {
        key: "access.key_rate_limit_max",
        env: "KEY_RATE_LIMIT_MAX",
        flag: "key-rate-limit-max",
        value: "NUMBER",
        meaning: "JSON-RPC requests in a minute of a new key, where it is issued without a limit",
        allowed: "1 or more",
        default: Fixed("600"),
        shape: Shape::Number,
        commands: &["keys", "partner"],
    },
    parse: value::limit,
    show: NonZeroU32::to_string,
    secret: false,
};

pub(in crate::config) const REDIS_URL: Setting<SecretUrl> = Setting {
    about: About {
        key: "access.redis_url",
        env: "REDIS_URL",
        flag: "redis-url",
        value: "URL",
        meaning: "Redis through which several processes share limits and filters",
        allowed: "redis://USER:PASSWORD@HOST:PORT/DATABASE, or rediss:// for TLS",
        default: Depends("every process has its own"),
        shape: Shape::Text,
        commands: &["up", "api", "gateway", "faucet", "explorer"],
    },
    parse: value::redis,
    show: SecretUrl::masked,
    secret: true,
};
