//! The treasury is a Safe that needs three of its five owners.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use contracts::address;
use contracts::bindings::SafeL2;

use super::chain::{COIN, STRANGER, TestChain};

/// The owners' keys, ascending by address as a Safe wants its signatures.
fn signers() -> Vec<PrivateKeySigner> {
    let mut signers: Vec<_> =
        (1..=5).map(|key| PrivateKeySigner::from_bytes(&B256::with_last_byte(key)).unwrap()).collect();
    signers.sort_by_key(PrivateKeySigner::address);
    signers
}

pub(super) fn owners() -> Vec<Address> {
    signers().iter().map(PrivateKeySigner::address).collect()
}

/// Pays one coin out with the signatures of the first `count` owners.
fn pay_out(chain: &mut TestChain, recipient: Address, count: usize) -> Result<bool, Bytes> {
    let hash = chain.view(
        address::TREASURY,
        SafeL2::getTransactionHashCall {
            to: recipient,
            value: COIN,
            data: Bytes::new(),
            operation: 0,
            safeTxGas: U256::ZERO,
            baseGas: U256::ZERO,
            gasPrice: U256::ZERO,
            gasToken: Address::ZERO,
            refundReceiver: Address::ZERO,
            _nonce: U256::ZERO,
        },
    );
    let signatures: Vec<u8> = signers()
        .iter()
        .take(count)
        .flat_map(|signer| signer.sign_hash_sync(&hash).unwrap().as_bytes())
        .collect();
    chain.send(
        STRANGER,
        address::TREASURY,
        SafeL2::execTransactionCall {
            to: recipient,
            value: COIN,
            data: Bytes::new(),
            operation: 0,
            safeTxGas: U256::ZERO,
            baseGas: U256::ZERO,
            gasPrice: U256::ZERO,
            gasToken: Address::ZERO,
            refundReceiver: Address::ZERO,
            signatures: signatures.into(),
        },
    )
}

#[test]
fn three_of_five_owners_move_its_coin_and_two_do_not() {
    let mut chain = TestChain::new();
    let recipient = Address::repeat_byte(0x77);
    chain.raw(STRANGER, address::TREASURY, COIN, Bytes::new()).unwrap();

    let refused = pay_out(&mut chain, recipient, 2).unwrap_err();
    assert!(refused.windows(5).any(|window| window == b"GS020"), "{refused}");
    assert_eq!(pay_out(&mut chain, recipient, 3), Ok(true));
    assert_eq!(chain.balance(recipient), COIN);
}

#[test]
fn it_has_its_owners_threshold_and_fallback_handler() {
    let mut chain = TestChain::new();
    assert_eq!(chain.view(address::TREASURY, SafeL2::getThresholdCall {}), U256::from(3));
    assert_eq!(chain.view(address::TREASURY, SafeL2::getOwnersCall {}), owners());
    assert_eq!(chain.view(address::TREASURY, SafeL2::VERSIONCall {}), "1.4.1");
}

#[test]
fn nobody_can_set_up_the_safe_or_its_singleton_again() {
    let mut chain = TestChain::new();
    for safe in [address::TREASURY, address::SAFE_L2] {
        let setup = SafeL2::setupCall {
            _owners: vec![STRANGER],
            _threshold: U256::ONE,
            to: Address::ZERO,
            data: Bytes::new(),
            fallbackHandler: Address::ZERO,
            paymentToken: Address::ZERO,
            payment: U256::ZERO,
            paymentReceiver: Address::ZERO,
        };
        let refused = chain.send(STRANGER, safe, setup).map(drop).unwrap_err();
        assert!(refused.windows(5).any(|window| window == b"GS200"), "{refused}");
    }
}
