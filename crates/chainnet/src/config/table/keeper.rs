//! Settings of the keeper and of the commands that administer the registry.

use crate::config::{
    secret::SecretKey,
    setting::{
        About,
        DefaultValue::{Depends, Fixed},
        Setting, Shape,
    },
    value,
};

pub(in crate::config) const KEEPER_KEY: Setting<SecretKey> = Setting {
    about: About {
        key: "keeper.key",
        env: "KEEPER_KEY",
        flag: "keeper-key",
        value: "KEY",
        meaning: "Private key of the account that unjails and slashes validators",
        allowed: "0x and 64 hexadecimal digits",
        default: Depends(
            "devnet the well-known one, testnet keys/keeper in the data directory; with none the keeper only reports",
        ),
        shape: Shape::Text,
        commands: &["up", "worker"],
    },
    parse: value::private_key,
    show: SecretKey::masked,
    secret: true,
};

pub(in crate::config) const KEEPER_AUTO_SLASH: Setting<bool> = Setting {
    about: About {
        key: "keeper.auto_slash",
        env: "KEEPER_AUTO_SLASH",
        flag: "keeper-auto-slash",
        value: "SWITCH",
        meaning: "Whether the keeper slashes for downtime and double-signing, instead of reporting them",
        allowed: "true, false",
        default: Fixed("false"),
        shape: Shape::Switch,
        commands: &["up", "worker"],
    },
    parse: value::switch,
    show: bool::to_string,
    secret: false,
};

pub(in crate::config) const REGISTRY_KEY: Setting<SecretKey> = Setting {
    about: About {
        key: "registry.key",
        env: "REGISTRY_KEY",
        flag: "registry-key",
        value: "KEY",
        meaning: "Private key that `chainnet registry` signs with",
        allowed: "0x and 64 hexadecimal digits",
        default: Depends("devnet the well-known administrator's, testnet keys/admin in the data directory"),
        shape: Shape::Text,
        commands: &["registry"],
    },
    parse: value::private_key,
    show: SecretKey::masked,
    secret: true,
};
