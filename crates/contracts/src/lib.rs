//! The contracts every network starts with: code, bindings, and the addresses they stand at.
//!
//! The Solidity sources and the build of the artifacts are in `contracts/` at the root of the repository; this crate
//! includes the committed artifacts and needs no compiler. It does not decide what is deployed with what settings:
//! that is the genesis builder's part.

pub mod address;
pub mod artifact;
pub mod bindings;
pub mod fees;
pub mod quote;

pub use bindings::{
    CompatibilityFallbackHandler, MultiSendCallOnly, Multicall3, PlatformCheckout, PlatformFees,
    PlatformValidatorRegistry, SafeL2, SafeProxy, SafeProxyFactory, SignatureValidator,
};

use alloy_primitives::{Bytes, bytes};

/// Runtime code of the CREATE2 deployer: call data is a 32-byte salt and the creation code, the answer is the
/// 20-byte address.
pub const CREATE2_DEPLOYER_CODE: Bytes = bytes!(
    "7fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffe03601600081602082378035828234f58015156039578182fd5b8082525050506014600cf3"
);

#[cfg(test)]
mod tests;
