//! `PlatformFees`: the split, the sums, and who gets what.

use alloy_primitives::{B256, Bytes, U256};
use contracts::address;
use contracts::bindings::PlatformFees as Fees;
use contracts::fees::FeeSource;

use super::chain::{COIN, REFUSES, STRANGER, TestChain, assert_reverts};

const REF: B256 = B256::repeat_byte(9);

fn pay(chain: &mut TestChain, source: FeeSource, amount: U256) {
    chain.pay(STRANGER, address::FEES, amount, Fees::payCall { source: source.id(), r#ref: REF }).unwrap();
}

#[test]
fn thirty_percent_is_burned_and_the_rest_is_held() {
    let mut chain = TestChain::new();
    pay(&mut chain, FeeSource::DeveloperPortal, COIN * U256::from(100));
    let event: Fees::FeePaid = chain.event();
    assert_eq!((event.source, event.r#ref, event.payer), (FeeSource::DeveloperPortal.id(), REF, STRANGER));
    assert_eq!(event.amount, COIN * U256::from(100));
    assert_eq!(event.burned, COIN * U256::from(30));
    assert_eq!(event.held, COIN * U256::from(70));
    assert_eq!(chain.balance(address::BURN), event.burned);
    assert_eq!(chain.balance(address::FEES), event.held);
}

#[test]
fn rounding_favours_the_held_part() {
    let mut chain = TestChain::new();
    for (amount, burned) in [(1_u64, 0_u64), (3, 0), (4, 1), (9, 2), (11, 3)] {
        pay(&mut chain, FeeSource::Bridge, U256::from(amount));
        let event: Fees::FeePaid = chain.event();
        assert_eq!((event.burned, event.held), (U256::from(burned), U256::from(amount - burned)));
    }
}

#[test]
fn sums_are_kept_per_source_and_overall() {
    let mut chain = TestChain::new();
    for (index, source) in (1_u64..).zip(FeeSource::ALL) {
        pay(&mut chain, source, U256::from(index * 10));
    }
    let sources = chain.view(address::FEES, Fees::getSourcesCall {});
    assert_eq!(sources, FeeSource::ALL.map(FeeSource::id));
    for (index, source) in (1_u64..).zip(sources) {
        let sums = chain.view(address::FEES, Fees::getSourceTotalsCall { source });
        let expected = [index * 10, index * 3, index * 7].map(U256::from);
        assert_eq!((sums.count, [sums.paid, sums.burned, sums.held]), (1, expected));
    }
    let all = chain.view(address::FEES, Fees::getTotalsCall {});
    assert_eq!((all.count, [all.paid, all.burned, all.held]), (7, [280, 84, 196].map(U256::from)));
}

#[test]
fn only_known_sources_and_some_coin_are_accepted() {
    let mut chain = TestChain::new();
    let unknown = B256::repeat_byte(1);
    let source = FeeSource::Payments.id();
    let call = |source: B256| Fees::payCall { source, r#ref: REF };
    assert_reverts(
        chain.pay(STRANGER, address::FEES, COIN, call(unknown)),
        Fees::PlatformFeesUnknownSource { source: unknown },
    );
    assert_reverts(chain.send(STRANGER, address::FEES, call(source)), Fees::PlatformFeesZeroAmount {});
    assert_reverts(
        chain.send(STRANGER, address::FEES, Fees::getSourceTotalsCall { source: unknown }),
        Fees::PlatformFeesUnknownSource { source: unknown },
    );
    assert!(chain.raw(STRANGER, address::FEES, COIN, Bytes::new()).is_err());
    assert!(!chain.view(address::FEES, Fees::isSourceCall { source: unknown }));
}

#[test]
fn anybody_can_send_what_is_held_to_the_treasury() {
    let mut chain = TestChain::new();
    let withdraw = || Fees::withdrawCall {};
    assert_reverts(chain.send(STRANGER, address::FEES, withdraw()), Fees::PlatformFeesNothingHeld {});
    pay(&mut chain, FeeSource::Minting, U256::from(10));
    chain.send(STRANGER, address::FEES, withdraw()).unwrap();
    let event: Fees::HeldFeesWithdrawn = chain.event();
    assert_eq!((event.treasury, event.amount), (address::TREASURY, U256::from(7)));
    assert_eq!(chain.balance(address::TREASURY), U256::from(7));
    assert_eq!(chain.balance(address::FEES), U256::ZERO);
}

#[test]
fn a_treasury_that_refuses_does_not_stop_payments() {
    let mut chain = TestChain::new();
    chain.set_code(address::TREASURY, REFUSES);
    pay(&mut chain, FeeSource::Identity, U256::from(10));
    assert_reverts(
        chain.send(STRANGER, address::FEES, Fees::withdrawCall {}),
        Fees::PlatformFeesTransferFailed { recipient: address::TREASURY, amount: U256::from(7) },
    );
}
