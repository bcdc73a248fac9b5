//! What bytes mean: which function a selector names, and why a transaction was undone.
//!
//! Known are the functions and errors of the network's own contracts, from their bindings, and the functions of tokens that
//! most wallets call. Anything else stays hexadecimal.

use alloy_primitives::hex;
use alloy_sol_types::{Panic, Revert, SolError};
use contracts::{
    Multicall3::Multicall3Calls,
    PlatformCheckout::{PlatformCheckoutCalls, PlatformCheckoutErrors},
    PlatformFees::{PlatformFeesCalls, PlatformFeesErrors},
    PlatformValidatorRegistry::{PlatformValidatorRegistryCalls, PlatformValidatorRegistryErrors},
    SafeL2::SafeL2Calls,
};

/// Functions of ERC-20, ERC-721, ERC-1155 and wrapped coins.
const TOKEN_FUNCTIONS: [([u8; 4], &str); 16] = [
    ([0x09, 0x5e, 0xa7, 0xb3], "approve(address,uint256)"),
    ([0x18, 0x16, 0x0d, 0xdd], "totalSupply()"),
    ([0x23, 0xb8, 0x72, 0xdd], "transferFrom(address,address,uint256)"),
    ([0x2e, 0x1a, 0x7d, 0x4d], "withdraw(uint256)"),
    ([0x2e, 0xb2, 0xc2, 0xd6], "safeBatchTransferFrom(address,address,uint256[],uint256[],bytes)"),
    ([0x39, 0x50, 0x93, 0x51], "increaseAllowance(address,uint256)"),
    ([0x40, 0xc1, 0x0f, 0x19], "mint(address,uint256)"),
    ([0x42, 0x84, 0x2e, 0x0e], "safeTransferFrom(address,address,uint256)"),
    ([0x42, 0x96, 0x6c, 0x68], "burn(uint256)"),
    ([0x70, 0xa0, 0x82, 0x31], "balanceOf(address)"),
    ([0xa2, 0x2c, 0xb4, 0x65], "setApprovalForAll(address,bool)"),
    ([0xa4, 0x57, 0xc2, 0xd7], "decreaseAllowance(address,uint256)"),
    ([0xa9, 0x05, 0x9c, 0xbb], "transfer(address,uint256)"),
    ([0xb8, 0x8d, 0x4f, 0xde], "safeTransferFrom(address,address,uint256,bytes)"),
    ([0xd0, 0xe3, 0x0d, 0xb0], "deposit()"),
    ([0xf2, 0x42, 0x43, 0x2a], "safeTransferFrom(address,address,uint256,uint256,bytes)"),
];

/// Bytes of a reason that is not understood which are still shown.
const LONGEST_UNKNOWN: usize = 256;

/// The signature of the function with this selector.
pub fn function(selector: [u8; 4]) -> Option<&'static str> {
    PlatformValidatorRegistryCalls::signature_by_selector(selector)
        .or_else(|| PlatformFeesCalls::signature_by_selector(selector))
        .or_else(|| PlatformCheckoutCalls::signature_by_selector(selector))
        .or_else(|| TOKEN_FUNCTIONS.iter().find(|(known, _)| *known == selector).map(|(_, name)| *name))
        .or_else(|| SafeL2Calls::signature_by_selector(selector))
        .or_else(|| Multicall3Calls::signature_by_selector(selector))
}

/// Why a transaction was undone, from what it returned.
pub fn revert_reason(output: &[u8]) -> String {
    if let Ok(revert) = Revert::abi_decode(output) {
        return revert.reason;
    }
    if let Ok(panic) = Panic::abi_decode(output) {
        return panic.to_string();
    }
    if let Some(error) = output.first_chunk().and_then(|selector| own_error(*selector)) {
        return error.to_owned();
    }
    hex::encode_prefixed(output.get(..LONGEST_UNKNOWN).unwrap_or(output))
}

/// The signature of the custom error with this selector. Its values stay in the data that was returned.
fn own_error(selector: [u8; 4]) -> Option<&'static str> {
    PlatformValidatorRegistryErrors::signature_by_selector(selector)
        .or_else(|| PlatformFeesErrors::signature_by_selector(selector))
        .or_else(|| PlatformCheckoutErrors::signature_by_selector(selector))
}

#[cfg(test)]
mod tests {
    use alloy_primitives::{U256, keccak256};
    use contracts::{PlatformFees, PlatformValidatorRegistry};

    use super::*;

    #[test]
    fn the_table_of_token_functions_is_right() {
        for (selector, signature) in TOKEN_FUNCTIONS {
            assert_eq!(keccak256(signature)[..4], selector, "{signature}");
        }
    }

    #[test]
    fn own_and_common_functions_have_names() {
        assert_eq!(function(PlatformFeesCalls::SELECTORS[0]), Some(PlatformFeesCalls::SIGNATURES[0]));
        assert_eq!(function([0xa9, 0x05, 0x9c, 0xbb]), Some("transfer(address,uint256)"));
        assert_eq!(function([0; 4]), None);
    }

    #[test]
    fn reasons_are_read_where_they_can_be() {
        let revert = Revert::from("not today".to_owned()).abi_encode();
        assert_eq!(revert_reason(&revert), "not today");
        let panic = Panic { code: U256::from(0x11) }.abi_encode();
        assert!(revert_reason(&panic).contains("0x11"), "{}", revert_reason(&panic));
        let own = PlatformFees::PlatformFeesZeroAmount {}.abi_encode();
        assert_eq!(revert_reason(&own), "PlatformFeesZeroAmount()");
        let registry = PlatformValidatorRegistry::ValidatorRegistryFull { maxValidators: U256::from(5) };
        assert_eq!(revert_reason(&registry.abi_encode()), "ValidatorRegistryFull(uint256)");
        assert_eq!(revert_reason(&[0xde, 0xad]), "0xdead");
        assert_eq!(revert_reason(&[]), "0x");
        assert_eq!(revert_reason(&[0; 1000]).len(), 2 + 2 * LONGEST_UNKNOWN);
    }
}
