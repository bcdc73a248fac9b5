//! Settings of what gas costs, and of how much one transaction may ask for.

use crate::config::{
    setting::{
        About,
        DefaultValue::{Depends, Fixed},
        Setting, Shape,
    },
    value,
};

pub(in crate::config) const MIN_GAS_PRICE: Setting<u64> = Setting {
    about: About {
        key: "chain.min_gas_price",
        env: "MIN_GAS_PRICE",
        flag: "min-gas-price",
        value: "WEI",
        meaning: "Least price of a unit of gas, in wei: cheaper transactions are refused, and ours pay it",
        allowed: "0 to 1000000000000000000, the same as the nodes' min-gas-price",
        default: Depends("devnet 0, else 1000000000 (1 gwei)"),
        shape: Shape::Number,
        commands: &[
            "up",
            "node",
            "api",
            "gateway",
            "faucet",
            "explorer",
            "worker",
            "network",
            "registry",
            "validator",
        ],
    },
    parse: value::gas_price,
    show: u64::to_string,
    secret: false,
};

pub(in crate::config) const TX_GAS_CAP: Setting<u64> = Setting {
    about: About {
        key: "chain.tx_gas_cap",
        env: "TX_GAS_CAP",
        flag: "tx-gas-cap",
        value: "GAS",
        meaning: "Highest gas limit of one transaction that the gateway and the embedded node take",
        allowed: "21000 or more",
        default: Fixed("16777216"),
        shape: Shape::Number,
        commands: &["up", "node", "gateway"],
    },
    parse: value::gas_cap,
    show: u64::to_string,
    secret: false,
};
