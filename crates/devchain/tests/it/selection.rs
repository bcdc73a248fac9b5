//! Which transactions a block is made of when some of them take long: the others are mined in time.

use std::time::{Duration, Instant};

use alloy_primitives::{Address, B256, Bytes, U256, bytes};
use chainnet_devchain::{
    chain::SubmitError,
    pool::{PoolError, PoolLimits},
};
use domain::devnet;

use crate::rig::{Rig, creation_of, transfer_of};

const BOB: Address = Address::repeat_byte(0xb0);
/// Most gas of a block: seconds of BLAKE2 rounds, and room for the transfers of others.
const MUCH_GAS: u64 = 400_000_000;
/// Calls BLAKE2's compression again and again, a million rounds each time.
const MANY_CALLS: Bytes = bytes!("63000f424060e01b6000525b6040610100 60d5 6000 6009 5afa50 600b56");
/// Calls it once, with 300 million rounds.
const ONE_CALL: Bytes = bytes!("6311e1a30060e01b600052 6040610100 60d5 6000 6009 5afa50 00");

/// A chain whose pool takes transactions with nearly all the gas of a block.
fn without_gas_cap() -> Rig {
    Rig::with_limits(PoolLimits { max_transaction_gas: MUCH_GAS, ..PoolLimits::default() })
}

/// Accounts that have no coin.
fn stranger(number: u64) -> B256 {
    B256::from(U256::from(0xbad_0000 + number))
}

fn is_mined(rig: &Rig, hash: B256) -> bool {
    rig.chain.find_mined(hash).unwrap().is_some()
}

#[tokio::test]
async fn transactions_that_never_end_hold_up_nobody() {
    let rig = without_gas_cap();
    let endless = |number: u64| {
        let code = if number.is_multiple_of(2) { MANY_CALLS } else { ONE_CALL };
        creation_of(stranger(number), 0, code, MUCH_GAS)
    };
    let attacks: Vec<B256> = (0..10).map(|number| rig.chain.submit(&endless(number)).unwrap()).collect();
    let honest = rig.transfer(0, 0, BOB, 7);

    let started = Instant::now();
    rig.mine().await;
    assert!(is_mined(&rig, honest), "the honest transfer waits behind the endless ones");
    for nonce in 1..=6 {
        let honest = rig.transfer(0, nonce, BOB, 7);
        rig.mine().await;
        assert!(is_mined(&rig, honest));
    }
    // Seven blocks have seven times a second and a half; executed in full, the ten take minutes.
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    for attack in attacks {
        assert!(!is_mined(&rig, attack), "an endless transaction was mined");
        assert!(!rig.chain.pool().contains(attack), "an endless transaction is tried again and again");
    }
}

#[tokio::test]
async fn the_sender_of_a_stopped_transaction_waits() {
    let rig = without_gas_cap();
    let endless = creation_of(stranger(1), 0, MANY_CALLS, MUCH_GAS);
    rig.chain.submit(&endless).unwrap();
    rig.mine().await;

    let refused = |raw: &[u8]| match rig.chain.submit(raw) {
        Err(SubmitError::Pool(PoolError::SenderSuspended { until })) => until,
        other => panic!("{other:?}"),
    };
    let until = refused(&endless);
    assert!(until > rig.chain.head().block.number() + 10, "{until}");
    assert_eq!(refused(&transfer_of(stranger(1), 0, BOB, 0)), until, "whatever it sends");
    rig.chain.submit(&transfer_of(stranger(2), 0, BOB, 0)).unwrap();
    while rig.chain.head().block.number() + 1 < until {
        refused(&endless);
        rig.mine().await;
    }
    rig.chain.submit(&transfer_of(stranger(1), 0, BOB, 0)).unwrap();
}

#[tokio::test]
async fn one_sender_does_not_get_all_the_time_of_a_block() {
    let rig = without_gas_cap();
    // Each takes a while and ends: BLAKE2 with 1.2 million rounds, some ten milliseconds.
    let slow = bytes!("6300124f8060e01b600052 6040610100 60d5 6000 6009 5afa50 00");
    for nonce in 0..300 {
        rig.chain.submit(&creation_of(devnet::ACCOUNTS[1].key, nonce, slow.clone(), 1_500_000)).unwrap();
    }
    let other = rig.chain.submit(&creation_of(devnet::ACCOUNTS[2].key, 0, slow, 1_500_000)).unwrap();
    rig.mine().await;
    assert!(is_mined(&rig, other), "another sender's turn never comes");
}

#[tokio::test]
async fn a_block_from_outside_is_not_measured_by_the_cap_of_gas() {
    let (author, reader) = (without_gas_cap(), Rig::new());
    let large = creation_of(devnet::ACCOUNTS[1].key, 0, Bytes::new(), MUCH_GAS);
    let hash = author.chain.submit(&large).unwrap();
    author.mine().await;
    assert!(is_mined(&author, hash));

    let refused = reader.chain.submit(&large);
    let cap = 16_777_216;
    assert!(
        matches!(refused, Err(SubmitError::Pool(PoolError::GasAboveCap { cap: found, .. })) if found == cap),
        "{refused:?}"
    );
    reader.chain.import((*author.chain.head().block).clone()).unwrap();
    assert!(is_mined(&reader, hash));
}
