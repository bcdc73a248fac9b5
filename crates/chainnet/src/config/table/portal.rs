//! Settings of the developer and merchant portal.

use crate::config::{
    secret::SecretKey,
    setting::{About, DefaultValue::Depends, Setting, Shape},
    value,
};

pub(in crate::config) const PORTAL_PEPPER: Setting<SecretKey> = Setting {
    about: About {
        key: "portal.pepper",
        env: "PORTAL_PEPPER",
        flag: "portal-pepper",
        value: "KEY",
        meaning: "Secret under which developer keys are kept; every process that shares the database needs the same",
        allowed: "0x and 64 hexadecimal digits",
        default: Depends(
            "made once, as keys/pepper in the data directory, on devnet and where the chain runs inside; elsewhere none, and no portal",
        ),
        shape: Shape::Text,
        commands: &["up", "api", "explorer", "worker", "portal"],
    },
    parse: value::private_key,
    show: SecretKey::masked,
    secret: true,
};

pub(in crate::config) const WEBHOOK_KEY: Setting<SecretKey> = Setting {
    about: About {
        key: "portal.webhook_key",
        env: "WEBHOOK_KEY",
        flag: "webhook-key",
        value: "KEY",
        meaning: "Key that seals the secrets of webhooks; every process that shares the database needs the same",
        allowed: "0x and 64 hexadecimal digits",
        default: Depends(
            "made once, as keys/webhook in the data directory, on devnet and where the chain runs inside; elsewhere none, and no portal",
        ),
        shape: Shape::Text,
        commands: &["up", "api", "explorer", "worker", "portal"],
    },
    parse: value::private_key,
    show: SecretKey::masked,
    secret: true,
};

pub(in crate::config) const WEBHOOK_ALLOW_PRIVATE: Setting<bool> = Setting {
    about: About {
        key: "portal.webhook_allow_private",
        env: "WEBHOOK_ALLOW_PRIVATE",
        flag: "webhook-allow-private",
        value: "SWITCH",
        meaning: "Whether webhooks may be plain http and lead to this machine or a private network",
        allowed: "true, false",
        default: Depends("devnet true, else false"),
        shape: Shape::Switch,
        commands: &["up", "api", "explorer", "worker", "portal"],
    },
    parse: value::switch,
    show: bool::to_string,
    secret: false,
};
