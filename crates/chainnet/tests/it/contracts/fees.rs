//! `PlatformFees`: the split to the wei, the totals, and where the coin goes.

use alloy_primitives::{Address, B256, U256, keccak256};
use alloy_sol_types::{SolCall, SolConstructor, SolError};
use contracts::{
    address::{BURN, FEES, TREASURY},
    bindings::PlatformFees as Fees,
    fees::FeeSource,
};
use testkit::Draft;

use super::{
    chain::{COIN, TestChain, draft},
    hostile,
    outcome::log,
    person::{ADMIN, Person, STRANGER},
};

const REF: B256 = B256::repeat_byte(9);

fn payment(source: FeeSource) -> Fees::payCall {
    Fees::payCall { source: source.id(), r#ref: REF }
}

/// Init code of another till.
fn deployment(treasury_: Address) -> Vec<u8> {
    let arguments = Fees::constructorCall { treasury_ }.abi_encode();
    [contracts::PlatformFees::BYTECODE.to_vec(), arguments].concat()
}

#[tokio::test]
async fn a_fee_is_split_to_the_wei_and_rounding_goes_to_the_held_part() {
    let mut chain = TestChain::start().await;
    let coin = COIN.to::<u128>();
    let split = [
        (1, 0),
        (2, 0),
        (3, 0),
        (4, 1),
        (6, 1),
        (7, 2),
        (9, 2),
        (10, 3),
        (11, 3),
        (9_999, 2_999),
        (coin - 1, 299_999_999_999_999_999),
        (coin, 300_000_000_000_000_000),
        (coin + 1, 300_000_000_000_000_000),
        (coin + 4, 300_000_000_000_000_001),
        (3_333_333_333_333_333_333, 999_999_999_999_999_999),
        (500_000 * coin + 7, 150_000 * coin + 2),
    ];
    let mut sums = [U256::ZERO; 2];
    for (amount, burned) in split {
        let (amount, burned) = (U256::from(amount), U256::from(burned));
        let held = amount - burned;
        let event = Fees::FeePaid {
            source: FeeSource::Bridge.id(),
            r#ref: REF,
            payer: STRANGER.address(),
            amount,
            burned,
            held,
        };
        let _ =
            chain.pay(STRANGER, FEES, amount, &payment(FeeSource::Bridge)).await.emits(FEES, [log(&event)]);
        sums = [sums[0] + burned, sums[1] + held];
        assert_eq!([chain.balance(BURN).await, chain.balance(FEES).await], sums, "after {amount} wei");
    }
    let totals = chain.view(FEES, &Fees::getTotalsCall {}).await;
    assert_eq!((totals.count, [totals.burned, totals.held]), (split.len() as u64, sums));
    assert_eq!(totals.paid, sums[0] + sums[1]);
}

#[tokio::test]
async fn totals_are_kept_per_source_and_overall() {
    let mut chain = TestChain::start().await;
    assert_eq!(chain.view(FEES, &Fees::getSourcesCall {}).await, FeeSource::ALL.map(FeeSource::id));
    // Source number i pays i times: all in one block, from several accounts.
    for (times, source) in (1..).zip(FeeSource::ALL) {
        for payer in 0..times {
            chain.submit(Person::Dev(payer), draft(FEES, U256::from(10 * times), &payment(source))).await;
        }
    }
    chain.mine().await;

    let mut sums = [0; 4];
    for (times, source) in (1..).zip(FeeSource::ALL) {
        let totals = chain.view(FEES, &Fees::getSourceTotalsCall { source: source.id() }).await;
        let expected = [times, 10 * times * times, 3 * times * times, 7 * times * times];
        let found = [U256::from(totals.count), totals.paid, totals.burned, totals.held];
        assert_eq!(found, expected.map(U256::from), "{source:?}");
        for (sum, part) in sums.iter_mut().zip(expected) {
            *sum += part;
        }
    }
    let all = chain.view(FEES, &Fees::getTotalsCall {}).await;
    assert_eq!([U256::from(all.count), all.paid, all.burned, all.held], sums.map(U256::from));
    assert_eq!(chain.logs(&[FEES]).await.len(), sums[0], "every payment is logged");
}

#[tokio::test]
async fn the_same_order_may_be_paid_again() {
    let mut chain = TestChain::start().await;
    for count in 1..=2 {
        let _ = chain.pay(STRANGER, FEES, COIN, &payment(FeeSource::Identity)).await.succeeds();
        assert_eq!(chain.view(FEES, &Fees::getTotalsCall {}).await.count, count);
    }
}

#[tokio::test]
async fn an_unknown_source_no_coin_or_a_bare_transfer_reverts_with_and_costs_nothing() {
    let mut chain = TestChain::start().await;
    let before = chain.balance(STRANGER.address()).await;
    for source in [B256::ZERO, keccak256("Payments"), keccak256("staking")] {
        let unknown = || Fees::PlatformFeesUnknownSource { source };
        chain.pay(STRANGER, FEES, COIN, &Fees::payCall { source, r#ref: REF }).await.reverts_with(unknown());
        let totals = chain.try_view(STRANGER.address(), FEES, &Fees::getSourceTotalsCall { source }).await;
        assert_eq!(totals.map(drop).unwrap_err(), unknown().abi_encode());
        assert!(!chain.view(FEES, &Fees::isSourceCall { source }).await);
    }
    chain
        .send(STRANGER, FEES, &payment(FeeSource::Payments))
        .await
        .reverts_with(Fees::PlatformFeesZeroAmount {});
    chain.transfer(STRANGER, FEES, COIN).await.reverts_silently();
    let unknown_selector = Draft { value: COIN, ..Draft::call(FEES, [1, 2, 3, 4]) };
    chain.mine_one(STRANGER, unknown_selector).await.reverts_silently();
    assert_eq!(chain.balance(STRANGER.address()).await, before);
    assert_eq!(chain.balance(FEES).await, U256::ZERO);
}

#[tokio::test]
async fn anybody_sends_what_is_held_to_the_treasury_and_nowhere_else() {
    let mut chain = TestChain::start().await;
    let withdraw = Fees::withdrawCall {};
    assert_eq!(chain.view(FEES, &Fees::treasuryCall {}).await, TREASURY);
    chain.send(ADMIN, FEES, &withdraw).await.reverts_with(Fees::PlatformFeesNothingHeld {});
    let _ = chain.pay(STRANGER, FEES, U256::from(11), &payment(FeeSource::Minting)).await.succeeds();

    let before = chain.balance(STRANGER.address()).await;
    let event = Fees::HeldFeesWithdrawn { treasury: TREASURY, amount: U256::from(8) };
    let _ = chain.send(STRANGER, FEES, &withdraw).await.emits(FEES, [log(&event)]);
    assert_eq!(chain.balance(TREASURY).await, U256::from(8));
    assert_eq!(chain.balance(FEES).await, U256::ZERO);
    assert_eq!(chain.balance(STRANGER.address()).await, before);
    assert_eq!(
        chain.view(FEES, &Fees::getTotalsCall {}).await.held,
        U256::from(8),
        "held counts what was withdrawn"
    );
    chain.send(STRANGER, FEES, &withdraw).await.reverts_with(Fees::PlatformFeesNothingHeld {});
}

#[tokio::test]
async fn the_terms_are_fixed_and_readable() {
    let chain = TestChain::start().await;
    assert_eq!(chain.view(FEES, &Fees::BURN_ADDRESSCall {}).await, BURN);
    assert_eq!(chain.view(FEES, &Fees::BURN_BPSCall {}).await, U256::from(3_000));
    assert_eq!(Fees::withdrawCall::SIGNATURE, "withdraw()", "the caller cannot name a recipient");
}

#[tokio::test]
async fn a_till_without_a_treasury_cannot_be_deployed() {
    let mut chain = TestChain::start().await;
    chain.deploy(STRANGER, deployment(Address::ZERO)).await.reverts_with(Fees::PlatformFeesZeroAddress {});
    let deployed = chain.deploy(STRANGER, deployment(TREASURY)).await.deployed();
    assert_eq!(chain.view(deployed, &Fees::treasuryCall {}).await, TREASURY);
}

#[tokio::test]
async fn a_treasury_that_refuses_holds_up_no_payment_and_loses_nothing() {
    let mut chain = TestChain::start().await;
    let refuser = chain.deploy(STRANGER, hostile::refuser()).await.deployed();
    let fees = chain.deploy(STRANGER, deployment(refuser)).await.deployed();
    let _ = chain.pay(STRANGER, fees, U256::from(10), &payment(FeeSource::Identity)).await.succeeds();
    let failed = Fees::PlatformFeesTransferFailed { recipient: refuser, amount: U256::from(7) };
    chain.send(STRANGER, fees, &Fees::withdrawCall {}).await.reverts_with(failed);
    assert_eq!(chain.balance(fees).await, U256::from(7));
}

#[tokio::test]
async fn a_treasury_cannot_withdraw_or_pay_from_within_a_withdrawal() {
    let mut chain = TestChain::start().await;
    for meddling in [Fees::withdrawCall {}.abi_encode(), payment(FeeSource::Bridge).abi_encode()] {
        // The till is deployed after its treasury.
        let till = STRANGER.address().create(chain.nonce(STRANGER) + 1);
        let meddler = hostile::meddler(till, &meddling);
        let treasury = chain.deploy(STRANGER, meddler).await.deployed();
        let fees = chain.deploy(STRANGER, deployment(treasury)).await.deployed();
        assert_eq!(fees, till);

        let _ = chain.pay(STRANGER, fees, U256::from(10), &payment(FeeSource::Identity)).await.succeeds();
        let event = Fees::HeldFeesWithdrawn { treasury, amount: U256::from(7) };
        let _ = chain.send(STRANGER, fees, &Fees::withdrawCall {}).await.emits(fees, [log(&event)]);
        assert_eq!(chain.balance(treasury).await, U256::from(7));
        assert_eq!(chain.view(fees, &Fees::getTotalsCall {}).await.count, 1);
    }
}
