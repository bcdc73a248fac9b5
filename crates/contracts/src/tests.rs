//! The bindings say what the sources say, and the vendored code is the canonical one.

use alloy_primitives::{Address, B256, U256, b256, keccak256};
use alloy_sol_types::{SolCall, SolEvent};

use crate::bindings::{checkout, fees, multicall3, registry};
use crate::fees::FeeSource;
use crate::quote::QuoteTerms;
use crate::*;

use checkout::PlatformCheckout as Checkout;
use fees::PlatformFees as Fees;
use registry::PlatformValidatorRegistry as Registry;

#[test]
fn the_registry_has_the_functions_of_the_specification() {
    let signatures = [
        Registry::registerValidatorCall::SIGNATURE,
        Registry::claimRewardsCall::SIGNATURE,
        Registry::distributeRewardsCall::SIGNATURE,
        Registry::slashValidatorCall::SIGNATURE,
        Registry::unjailValidatorCall::SIGNATURE,
        Registry::setMaxValidatorsCall::SIGNATURE,
        Registry::expandToPhaseCall::SIGNATURE,
        Registry::getOpenSlotsCall::SIGNATURE,
        Registry::getExpansionStatusCall::SIGNATURE,
        Registry::setCommunityRegistrationOpenCall::SIGNATURE,
        Registry::removeValidatorCall::SIGNATURE,
    ];
    assert_eq!(
        signatures,
        [
            "registerValidator(string,string,uint256,uint16)",
            "claimRewards()",
            "distributeRewards(address,uint256)",
            "slashValidator(address,uint8)",
            "unjailValidator(address)",
            "setMaxValidators(uint256)",
            "expandToPhase(uint8)",
            "getOpenSlots()",
            "getExpansionStatus()",
            "setCommunityRegistrationOpen(bool)",
            "removeValidator(address,string)",
        ]
    );
}

#[test]
fn payments_have_the_signatures_that_wallets_are_given() {
    assert_eq!(Fees::payCall::SIGNATURE, "pay(bytes32,bytes32)");
    assert_eq!(Fees::FeePaid::SIGNATURE, "FeePaid(bytes32,bytes32,address,uint256,uint256,uint256)");
    assert_eq!(Checkout::payCall::SIGNATURE, "pay(bytes32,address,uint256,uint256,bytes32)");
    assert_eq!(Checkout::QuotePaid::SIGNATURE, "QuotePaid(bytes32,address,address,uint256,uint256,bytes32)");
    assert_eq!(multicall3::Multicall3::aggregate3Call::SELECTOR, [0x82, 0xad, 0x56, 0xcb]);
}

#[test]
fn vendored_code_has_its_canonical_hash() {
    let expected = [
        (
            &SafeL2::DEPLOYED_BYTECODE,
            b256!("b1f926978a0f44a2c0ec8fe822418ae969bd8c3f18d61e5103100339894f81ff"),
        ),
        (
            &Multicall3::DEPLOYED_BYTECODE,
            b256!("d5c15df687b16f2ff992fc8d767b4216323184a2bbc6ee2f9c398c318e770891"),
        ),
        (&CREATE2_DEPLOYER_CODE, b256!("2fa86add0aed31f33a762c9d88e807c475bd51d0f52bd0955754b2608f7e4989")),
    ];
    for (code, hash) in expected {
        assert_eq!(keccak256(code), hash);
    }
}

#[test]
fn deployable_contracts_carry_their_creation_code() {
    let codes = [
        &PlatformValidatorRegistry::BYTECODE,
        &PlatformFees::BYTECODE,
        &PlatformCheckout::BYTECODE,
        &SignatureValidator::BYTECODE,
        &SafeL2::BYTECODE,
        &SafeProxy::BYTECODE,
        &SafeProxyFactory::BYTECODE,
        &CompatibilityFallbackHandler::BYTECODE,
        &MultiSendCallOnly::BYTECODE,
    ];
    assert!(codes.iter().all(|code| code.len() > 100));
}

#[test]
fn a_source_is_found_by_the_hash_of_its_name() {
    for source in FeeSource::ALL {
        assert_eq!(source.id(), keccak256(source.name()));
        assert_eq!(FeeSource::from_id(source.id()), Some(source));
    }
    assert_eq!(FeeSource::from_id(B256::ZERO), None);
}

#[test]
fn every_term_changes_the_id_of_a_quote() {
    let terms = QuoteTerms {
        chain_id: 8845,
        checkout: address::CHECKOUT,
        merchant: Address::repeat_byte(7),
        amount: U256::from(1_000),
        deadline: 1_800_000_000,
        salt: B256::repeat_byte(9),
    };
    let others = [
        QuoteTerms { chain_id: 8847, ..terms },
        QuoteTerms { checkout: address::FEES, ..terms },
        QuoteTerms { merchant: Address::repeat_byte(8), ..terms },
        QuoteTerms { amount: U256::from(1_001), ..terms },
        QuoteTerms { deadline: 1_800_000_001, ..terms },
        QuoteTerms { salt: B256::repeat_byte(10), ..terms },
    ];
    assert!(others.iter().all(|other| other.id() != terms.id()));
}
