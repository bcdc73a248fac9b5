//! Settings of the explorer.

use std::net::IpAddr;

use crate::config::{
    setting::{About, DefaultValue::Fixed, Setting, Shape},
    value,
};

pub(in crate::config) const EXPLORER_HOST: Setting<IpAddr> = Setting {
    about: About {
        key: "explorer.host",
        env: "EXPLORER_HOST",
        flag: "explorer-host",
        value: "ADDRESS",
        meaning: "Address that the explorer listens on",
        allowed: "an IPv4 or IPv6 address",
        default: Fixed("127.0.0.1"),
        shape: Shape::Text,
        commands: &["up", "explorer"],
    },
    parse: value::host,
    show: IpAddr::to_string,
    secret: false,
};

pub(in crate::config) const EXPLORER_PORT: Setting<u16> = Setting {
    about: About {
        key: "explorer.port",
        env: "EXPLORER_PORT",
        flag: "explorer-port",
        value: "PORT",
        meaning: "Port of the explorer's pages",
        allowed: "0 to 65535, 0 picks a free one",
        default: Fixed("3000"),
        shape: Shape::Number,
        commands: &["up", "explorer"],
    },
    parse: value::port,
    show: u16::to_string,
    secret: false,
};
