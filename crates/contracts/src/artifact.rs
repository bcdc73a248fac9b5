//! The artifacts as text, for those who need a contract's interface when the product runs: each is JSON with an `abi`.

/// The artifacts by the name of their contract. Ours come first.
pub const ARTIFACTS: [(&str, &str); 7] = [
    ("PlatformValidatorRegistry", include_str!("../artifacts/PlatformValidatorRegistry.json")),
    ("PlatformFees", include_str!("../artifacts/PlatformFees.json")),
    ("PlatformCheckout", include_str!("../artifacts/PlatformCheckout.json")),
    ("SafeL2", include_str!("../artifacts/SafeL2.json")),
    ("SafeProxyFactory", include_str!("../artifacts/SafeProxyFactory.json")),
    ("MultiSendCallOnly", include_str!("../artifacts/MultiSendCallOnly.json")),
    ("Multicall3", include_str!("../artifacts/Multicall3.json")),
];
