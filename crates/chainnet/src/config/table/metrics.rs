//! Settings of running it: metrics, and how a process ends.

use std::net::IpAddr;

use crate::config::{
    setting::{About, DefaultValue::Fixed, Setting, Shape},
    value,
};

/// The roles that run until they are told to stop.
const ROLES: &[&str] = &["up", "api", "gateway", "faucet", "explorer", "worker", "node"];

pub(in crate::config) const METRICS_HOST: Setting<IpAddr> = Setting {
    about: About {
        key: "metrics.host",
        env: "METRICS_HOST",
        flag: "metrics-host",
        value: "ADDRESS",
        meaning: "Address that metrics are served on",
        allowed: "an IPv4 or IPv6 address",
        default: Fixed("127.0.0.1"),
        shape: Shape::Text,
        commands: ROLES,
    },
    parse: value::host,
    show: IpAddr::to_string,
    secret: false,
};

pub(in crate::config) const METRICS_PORT: Setting<u16> = Setting {
    about: About {
        key: "metrics.port",
        env: "METRICS_PORT",
        flag: "metrics-port",
        value: "PORT",
        meaning: "Port of /metrics for Prometheus; processes on one machine need one each",
        allowed: "0 to 65535, 0 picks a free one",
        default: Fixed("9464"),
        shape: Shape::Number,
        commands: ROLES,
    },
    parse: value::port,
    show: u16::to_string,
    secret: false,
};

pub(in crate::config) const DRAIN_SECONDS: Setting<u32> = Setting {
    about: About {
        key: "drain.seconds",
        env: "DRAIN_SECONDS",
        flag: "drain-seconds",
        value: "SECONDS",
        meaning: "How long a process that is told to stop goes on serving while /ready says 503, so that balancers turn away",
        allowed: "0 to 300",
        default: Fixed("0"),
        shape: Shape::Number,
        commands: ROLES,
    },
    parse: value::drain,
    show: u32::to_string,
    secret: false,
};
