//! Settings of the faucet.

use std::net::IpAddr;

use domain::Wei;

use crate::config::{
    secret::SecretKey,
    setting::{
        About,
        DefaultValue::{Depends, Fixed},
        Setting, Shape,
    },
    value,
};

pub(in crate::config) const FAUCET_HOST: Setting<IpAddr> = Setting {
    about: About {
        key: "faucet.host",
        env: "FAUCET_HOST",
        flag: "faucet-host",
        value: "ADDRESS",
        meaning: "Address that the faucet listens on",
        allowed: "an IPv4 or IPv6 address",
        default: Fixed("127.0.0.1"),
        shape: Shape::Text,
        commands: &["up", "faucet"],
    },
    parse: value::host,
    show: IpAddr::to_string,
    secret: false,
};

pub(in crate::config) const FAUCET_PORT: Setting<u16> = Setting {
    about: About {
        key: "faucet.port",
        env: "FAUCET_PORT",
        flag: "faucet-port",
        value: "PORT",
        meaning: "Port of the faucet",
        allowed: "0 to 65535, 0 picks a free one",
        default: Fixed("4001"),
        shape: Shape::Number,
        commands: &["up", "faucet"],
    },
    parse: value::port,
    show: u16::to_string,
    secret: false,
};

pub(in crate::config) const FAUCET_DAILY_CAP: Setting<Wei> = Setting {
    about: About {
        key: "faucet.daily_cap",
        env: "FAUCET_DAILY_CAP",
        flag: "faucet-daily-cap",
        value: "COIN",
        meaning: "Coin that the faucet pays out in a day at most",
        allowed: "an amount of coin",
        default: Fixed("100000"),
        shape: Shape::Number,
        commands: &["up", "faucet"],
    },
    parse: value::coin,
    show: Wei::to_string,
    secret: false,
};

pub(in crate::config) const FAUCET_KEY: Setting<SecretKey> = Setting {
    about: About {
        key: "faucet.key",
        env: "FAUCET_KEY",
        flag: "faucet-key",
        value: "KEY",
        meaning: "Private key of the account that the faucet pays from",
        allowed: "0x and 64 hexadecimal digits",
        default: Depends("devnet the well-known one, testnet keys/faucet in the data directory"),
        shape: Shape::Text,
        commands: &["up", "faucet", "send"],
    },
    parse: value::private_key,
    show: SecretKey::masked,
    secret: true,
};
