//! Settings of the database.

use std::num::NonZeroU32;

use crate::config::{
    secret::SecretUrl,
    setting::{
        About,
        DefaultValue::{Depends, Fixed},
        Setting, Shape,
    },
    value,
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
            "explorer",
            "worker",
            "doctor",
            "applications",
            "keys",
            "allowlist",
            "partner",
            "rate",
            "portal",
            "registry",
            "validator",
            "db",
        ],
    },
    parse: value::database,
    show: SecretUrl::masked,
    secret: true,
};

pub(in crate::config) const DATABASE_CONNECTIONS: Setting<NonZeroU32> = Setting {
    about: About {
        key: "database.connections",
        env: "DATABASE_CONNECTIONS",
        flag: "database-connections",
        value: "NUMBER",
        meaning: "Connections to PostgreSQL that a process has at most; SQLite has its own number",
        allowed: "1 or more",
        default: Fixed("10"),
        shape: Shape::Number,
        commands: &["up", "api", "gateway", "faucet", "explorer", "worker"],
    },
    parse: value::limit,
    show: NonZeroU32::to_string,
    secret: false,
};
