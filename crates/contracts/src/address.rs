//! Where the predeployed contracts stand, the same on every network.

use alloy_primitives::{Address, address};

/// `PlatformValidatorRegistry`.
pub const REGISTRY: Address = address!("0000000000000000000000000000000000008801");
/// `PlatformFees`.
pub const FEES: Address = address!("0000000000000000000000000000000000008802");
/// `PlatformCheckout`.
pub const CHECKOUT: Address = address!("0000000000000000000000000000000000008803");
/// The treasury: a `SafeProxy` before [`SAFE_L2`].
pub const TREASURY: Address = address!("0000000000000000000000000000000000008804");
/// Where the burned part of a fee goes.
pub const BURN: Address = address!("000000000000000000000000000000000000dEaD");

/// Safe 1.4.1 singleton, canonical address.
pub const SAFE_L2: Address = address!("29fcB43b46531BcA003ddC8FCB67FFE91900C762");
/// Safe 1.4.1 proxy factory, canonical address.
pub const SAFE_PROXY_FACTORY: Address = address!("4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67");
/// Safe 1.4.1 fallback handler, canonical address.
pub const SAFE_FALLBACK_HANDLER: Address = address!("fd0732Dc9E303f09fCEf3a7388Ad10A83459Ec99");
/// Safe 1.4.1 batch of calls, canonical address.
pub const SAFE_MULTI_SEND_CALL_ONLY: Address = address!("9641d764fc13c8B624c04430C7356C1C7C8102e2");

/// Multicall3, well-known address.
pub const MULTICALL3: Address = address!("cA11bde05977b3631167028862bE2a173976CA11");
/// The CREATE2 deployer, well-known address.
pub const CREATE2_DEPLOYER: Address = address!("4e59b44847b379578588920cA78FbF26c0B4956C");

/// Every predeployed contract with the name users know it by.
pub const PREDEPLOYED: [(&str, Address); 10] = [
    ("PlatformValidatorRegistry", REGISTRY),
    ("PlatformFees", FEES),
    ("PlatformCheckout", CHECKOUT),
    ("Treasury", TREASURY),
    ("SafeL2", SAFE_L2),
    ("SafeProxyFactory", SAFE_PROXY_FACTORY),
    ("CompatibilityFallbackHandler", SAFE_FALLBACK_HANDLER),
    ("MultiSendCallOnly", SAFE_MULTI_SEND_CALL_ONLY),
    ("Multicall3", MULTICALL3),
    ("Create2Deployer", CREATE2_DEPLOYER),
];
