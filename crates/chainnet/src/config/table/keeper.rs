//! Settings of the keeper and of the commands that administer the registry.

use chain::remote::NodeUrl;

use crate::config::{
    secret::SecretKey,
    setting::{
        About,
        DefaultValue::{Depends, Fixed},
        Setting, Shape,
    },
    value::{self, listed},
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

pub(in crate::config) const KEEPER_AUTO_VOTE: Setting<bool> = Setting {
    about: About {
        key: "keeper.auto_vote",
        env: "KEEPER_AUTO_VOTE",
        flag: "keeper-auto-vote",
        value: "SWITCH",
        meaning: "Whether the keeper has validators vote out who is out of the registry, and vote in who was accepted and has staked",
        allowed: "true, false",
        default: Fixed("false"),
        shape: Shape::Switch,
        commands: &["up", "worker"],
    },
    parse: value::switch,
    show: bool::to_string,
    secret: false,
};

pub(in crate::config) const KEEPER_VOTER_URLS: Setting<Vec<NodeUrl>> = Setting {
    about: About {
        key: "keeper.voter_urls",
        env: "KEEPER_VOTER_URLS",
        flag: "keeper-voter-urls",
        value: "URLS",
        meaning: "Validators' own nodes that the keeper may have vote, with the IBFT methods enabled",
        allowed: "http, https, ws or wss URLs",
        default: Depends("none; with the embedded chain its own validators"),
        shape: Shape::List,
        commands: &["up", "worker"],
    },
    parse: value::nodes,
    show: |nodes| listed(nodes),
    secret: true,
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
        commands: &["registry", "send"],
    },
    parse: value::private_key,
    show: SecretKey::masked,
    secret: true,
};
