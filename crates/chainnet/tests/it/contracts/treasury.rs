//! The treasury is a Safe: three of its five owners move its coin, two do not.

use alloy_primitives::{Address, Bytes, U256};
use alloy_signer::SignerSync;
use alloy_signer_local::PrivateKeySigner;
use alloy_sol_types::{Revert, SolValue};
use contracts::{
    address::{FEES, SAFE_L2, TREASURY},
    bindings::{PlatformFees as Fees, SafeL2},
    fees::FeeSource,
};

use super::{
    chain::{COIN, TestChain},
    outcome::log,
    person::{Person, STRANGER},
};

const RECIPIENT: Address = Address::repeat_byte(0x77);

/// The owners in the ascending order that a Safe wants its signatures in.
fn owners() -> Vec<Person> {
    let mut owners: Vec<_> = (5..10).map(Person::Dev).collect();
    owners.sort_by_key(|owner| owner.address());
    owners
}

/// Paying `amount` to the recipient, signed by these people for the Safe's present nonce.
async fn payout(chain: &TestChain, amount: U256, signers: &[Person]) -> SafeL2::execTransactionCall {
    let hash = chain
        .view(
            TREASURY,
            &SafeL2::getTransactionHashCall {
                to: RECIPIENT,
                value: amount,
                data: Bytes::new(),
                operation: 0,
                safeTxGas: U256::ZERO,
                baseGas: U256::ZERO,
                gasPrice: U256::ZERO,
                gasToken: Address::ZERO,
                refundReceiver: Address::ZERO,
                _nonce: chain.view(TREASURY, &SafeL2::nonceCall {}).await,
            },
        )
        .await;
    let signature = |person: &Person| {
        let signer = PrivateKeySigner::from_bytes(&person.key()).expect("a valid key");
        signer.sign_hash_sync(&hash).expect("a signature").as_bytes()
    };
    SafeL2::execTransactionCall {
        to: RECIPIENT,
        value: amount,
        data: Bytes::new(),
        operation: 0,
        safeTxGas: U256::ZERO,
        baseGas: U256::ZERO,
        gasPrice: U256::ZERO,
        gasToken: Address::ZERO,
        refundReceiver: Address::ZERO,
        signatures: signers.iter().flat_map(signature).collect(),
    }
}

#[tokio::test]
async fn it_is_a_safe_of_five_owners_that_needs_three() {
    let chain = TestChain::start().await;
    assert_eq!(chain.view(TREASURY, &SafeL2::VERSIONCall {}).await, "1.4.1");
    assert_eq!(chain.view(TREASURY, &SafeL2::getThresholdCall {}).await, U256::from(3));
    let mut listed = chain.view(TREASURY, &SafeL2::getOwnersCall {}).await;
    listed.sort();
    assert_eq!(listed, owners().into_iter().map(Person::address).collect::<Vec<_>>());
    for owner in listed {
        assert!(chain.view(TREASURY, &SafeL2::isOwnerCall { owner }).await);
    }
}

#[tokio::test]
async fn three_owners_pay_out_collected_fees_and_two_do_not() {
    let mut chain = TestChain::start().await;
    let fee = Fees::payCall { source: FeeSource::Payments.id(), r#ref: Default::default() };
    let _ = chain.pay(STRANGER, FEES, COIN, &fee).await.succeeds();
    let held = COIN * U256::from(7) / U256::from(10);
    let received = SafeL2::SafeReceived { sender: FEES, value: held };
    let _ = chain.send(STRANGER, FEES, &Fees::withdrawCall {}).await.emits(TREASURY, [log(&received)]);

    let owners = owners();
    let two = payout(&chain, held, &owners[..2]).await;
    chain.send(STRANGER, TREASURY, &two).await.reverts_with(Revert::from("GS020"));
    assert_eq!(chain.balance(TREASURY).await, held);

    let three = payout(&chain, held, &owners[2..]).await;
    let nonce = chain.view(TREASURY, &SafeL2::nonceCall {}).await;
    let _ = chain.send(STRANGER, TREASURY, &three).await.succeeds();
    assert_eq!(chain.balance(TREASURY).await, U256::ZERO);
    assert_eq!(chain.balance(RECIPIENT).await, held);
    assert_eq!(chain.view(TREASURY, &SafeL2::nonceCall {}).await, nonce + U256::ONE);
}

#[tokio::test]
async fn a_payout_is_logged_with_its_signatures() {
    let mut chain = TestChain::start().await;
    let _ = chain.transfer(STRANGER, TREASURY, COIN).await.succeeds();
    let call = payout(&chain, COIN, &owners()[..3]).await;
    let details = SafeL2::SafeMultiSigTransaction {
        to: call.to,
        value: call.value,
        data: Bytes::new(),
        operation: 0,
        safeTxGas: U256::ZERO,
        baseGas: U256::ZERO,
        gasPrice: U256::ZERO,
        gasToken: Address::ZERO,
        refundReceiver: Address::ZERO,
        signatures: call.signatures.clone(),
        additionalInfo: (U256::ZERO, STRANGER.address(), U256::from(3)).abi_encode().into(),
    };
    let outcome = chain.send(STRANGER, TREASURY, &call).await.succeeds();
    let [first, second] = outcome.logs.as_slice() else { panic!("{:?}", outcome.logs) };
    assert_eq!((first.address, &first.data), (TREASURY, &log(&details)));
    assert_eq!(second.address, TREASURY);
    assert_eq!(
        second.data.topics()[0],
        <SafeL2::ExecutionSuccess as alloy_sol_types::SolEvent>::SIGNATURE_HASH
    );
}

#[tokio::test]
async fn strangers_repetitions_and_disorder_do_not_make_a_third_signature() {
    let mut chain = TestChain::start().await;
    let _ = chain.transfer(STRANGER, TREASURY, COIN).await.succeeds();
    let owners = owners();
    let mut with_stranger = vec![owners[0], owners[1], STRANGER];
    with_stranger.sort_by_key(|person| person.address());
    let false_quorums =
        [with_stranger, vec![owners[0], owners[1], owners[1]], vec![owners[2], owners[1], owners[0]]];
    for signers in false_quorums {
        let call = payout(&chain, COIN, &signers).await;
        chain.send(owners[0], TREASURY, &call).await.reverts_with(Revert::from("GS026"));
    }
    assert_eq!(chain.balance(TREASURY).await, COIN);
}

#[tokio::test]
async fn a_signed_payout_is_executed_once_and_as_it_was_signed() {
    let mut chain = TestChain::start().await;
    let _ = chain.transfer(STRANGER, TREASURY, COIN + COIN).await.succeeds();
    let signed = payout(&chain, COIN, &owners()[1..4]).await;
    let forged = SafeL2::execTransactionCall { value: COIN + COIN, ..signed.clone() };
    assert!(!chain.send(STRANGER, TREASURY, &forged).await.succeeded);
    let _ = chain.send(STRANGER, TREASURY, &signed).await.succeeds();
    assert!(!chain.send(STRANGER, TREASURY, &signed).await.succeeded, "a replay");
    assert_eq!(chain.balance(RECIPIENT).await, COIN);
    assert_eq!(chain.balance(TREASURY).await, COIN);
}

#[tokio::test]
async fn nobody_sets_up_the_safe_or_its_singleton_again() {
    let mut chain = TestChain::start().await;
    let setup = SafeL2::setupCall {
        _owners: vec![STRANGER.address()],
        _threshold: U256::ONE,
        to: Address::ZERO,
        data: Bytes::new(),
        fallbackHandler: Address::ZERO,
        paymentToken: Address::ZERO,
        payment: U256::ZERO,
        paymentReceiver: Address::ZERO,
    };
    for safe in [TREASURY, SAFE_L2] {
        chain.send(STRANGER, safe, &setup).await.reverts_with(Revert::from("GS200"));
    }
}
