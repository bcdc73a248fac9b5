//! Settings of the JSON-RPC gateway.

use std::{net::IpAddr, num::NonZeroU32};

use crate::config::{
    setting::{
        About,
        DefaultValue::{Depends, Fixed},
        Setting, Shape,
    },
    value::{self, Origins},
};

pub(in crate::config) const GATEWAY_HOST: Setting<IpAddr> = Setting {
    about: About {
        key: "gateway.host",
        env: "GATEWAY_HOST",
        flag: "gateway-host",
        value: "ADDRESS",
        meaning: "Address that the JSON-RPC gateway listens on",
        allowed: "an IPv4 or IPv6 address",
        default: Fixed("127.0.0.1"),
        shape: Shape::Text,
        commands: &["up", "gateway"],
    },
    parse: value::host,
    show: IpAddr::to_string,
    secret: false,
};

pub(in crate::config) const GATEWAY_PORT: Setting<u16> = Setting {
    about: About {
        key: "gateway.port",
        env: "GATEWAY_PORT",
        flag: "gateway-port",
        value: "PORT",
        meaning: "Port of the JSON-RPC gateway, HTTP and WebSocket",
        allowed: "0 to 65535, 0 picks a free one",
        default: Depends("8540, testnet 8555"),
        shape: Shape::Number,
        commands: &["up", "gateway"],
    },
    parse: value::port,
    show: u16::to_string,
    secret: false,
};

pub(in crate::config) const GATEWAY_RATE_LIMIT_MAX: Setting<NonZeroU32> = Setting {
    about: About {
        key: "gateway.rate_limit_max",
        env: "GATEWAY_RATE_LIMIT_MAX",
        flag: "gateway-rate-limit-max",
        value: "NUMBER",
        meaning: "JSON-RPC requests that one client address may make in a minute without a key",
        allowed: "1 or more; for no limit a large number",
        default: Fixed("300"),
        shape: Shape::Number,
        commands: &["up", "gateway"],
    },
    parse: value::limit,
    show: NonZeroU32::to_string,
    secret: false,
};

pub(in crate::config) const GATEWAY_CORS_ORIGINS: Setting<Origins> = Setting {
    about: About {
        key: "gateway.cors_origins",
        env: "GATEWAY_CORS_ORIGINS",
        flag: "gateway-cors-origins",
        value: "ORIGINS",
        meaning: "Whose web pages may read the gateway's answers",
        allowed: "* for everybody, or origins such as https://example.org",
        default: Depends("*, devnet as api.cors_origins"),
        shape: Shape::List,
        commands: &["up", "gateway"],
    },
    parse: value::origins,
    show: Origins::to_string,
    secret: false,
};

pub(in crate::config) const GATEWAY_BUFFER_MIB: Setting<NonZeroU32> = Setting {
    about: About {
        key: "gateway.buffer_mib",
        env: "GATEWAY_BUFFER_MIB",
        flag: "gateway-buffer-mib",
        value: "NUMBER",
        meaning: "Memory for long requests and answers that are under way, in MiB; one caller may have an eighth, and at least 33",
        allowed: "1 or more",
        default: Fixed("512"),
        shape: Shape::Number,
        commands: &["up", "gateway"],
    },
    parse: value::limit,
    show: NonZeroU32::to_string,
    secret: false,
};
