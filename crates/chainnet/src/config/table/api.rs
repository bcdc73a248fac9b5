//! Settings of REST and GraphQL.

use std::{net::IpAddr, num::NonZeroU32};

use ipnet::IpNet;

use crate::config::{
    setting::{
        About,
        DefaultValue::{Depends, Fixed},
        Setting, Shape,
    },
    value::{self, Origins, listed},
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
        commands: &["up", "api", "faucet", "explorer"],
    },
    parse: value::limit,
    show: NonZeroU32::to_string,
    secret: false,
};

pub(in crate::config) const DEVELOPER_KEY_RATE_LIMIT_MAX: Setting<NonZeroU32> = Setting {
    about: About {
        key: "api.developer_key_rate_limit_max",
        env: "DEVELOPER_KEY_RATE_LIMIT_MAX",
        flag: "developer-key-rate-limit-max",
        value: "NUMBER",
        meaning: "Requests that may be made with one developer key in a minute, from wherever it is used",
        allowed: "1 or more; for no limit a large number",
        default: Fixed("600"),
        shape: Shape::Number,
        commands: &["up", "api", "explorer"],
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
        commands: &["up", "api", "faucet", "explorer"],
    },
    parse: value::origins,
    show: Origins::to_string,
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
        commands: &["up", "api", "gateway", "faucet", "explorer"],
    },
    parse: value::networks,
    show: |networks| listed(networks),
    secret: false,
};
