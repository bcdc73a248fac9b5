//! `PlatformCheckout`: exactly the quoted amount, once, in time, straight to the merchant.

use alloy_primitives::{Address, B256, U256, keccak256};
use alloy_sol_types::SolCall;
use contracts::{
    address::{CHECKOUT, FEES},
    bindings::PlatformCheckout as Checkout,
    quote::{QUOTE_TYPE, QuoteTerms},
};
use domain::Network;
use testkit::Draft;

use super::{
    chain::{COIN, TestChain, draft},
    hostile,
    outcome::log,
    person::{Person, STRANGER},
};

const MERCHANT: Address = Address::repeat_byte(0x4e);
const PAYER: Person = Person::Dev(2);

/// A quote that can be paid for another quarter of an hour.
async fn quote(chain: &TestChain) -> QuoteTerms {
    QuoteTerms {
        chain_id: Network::Devnet.chain_id(),
        checkout: CHECKOUT,
        merchant: MERCHANT,
        amount: COIN + U256::ONE,
        deadline: chain.now().await + 900,
        salt: B256::repeat_byte(5),
    }
}

fn payment(terms: &QuoteTerms) -> Checkout::payCall {
    Checkout::payCall {
        quoteId: terms.id(),
        merchant: terms.merchant,
        amount: terms.amount,
        deadline: U256::from(terms.deadline),
        salt: terms.salt,
    }
}

fn paid(terms: &QuoteTerms, payer: Person) -> Checkout::QuotePaid {
    Checkout::QuotePaid {
        quoteId: terms.id(),
        merchant: terms.merchant,
        payer: payer.address(),
        amount: terms.amount,
        deadline: U256::from(terms.deadline),
        salt: terms.salt,
    }
}

async fn is_paid(chain: &TestChain, terms: &QuoteTerms) -> bool {
    chain.view(CHECKOUT, &Checkout::isPaidCall { quoteId: terms.id() }).await
}

/// Asserts that a refused payment left everything as it was.
async fn assert_untouched(chain: &TestChain, terms: &QuoteTerms, payer_balance: U256) {
    assert!(!is_paid(chain, terms).await);
    assert_eq!(chain.balance(PAYER.address()).await, payer_balance);
    assert_eq!(chain.balance(terms.merchant).await, U256::ZERO);
    assert_eq!(chain.balance(CHECKOUT).await, U256::ZERO);
}

#[tokio::test]
async fn a_quote_is_paid_straight_to_the_merchant_and_logged() {
    let mut chain = TestChain::start().await;
    chain.mine().await;
    let terms = quote(&chain).await;
    let before = chain.balance(PAYER.address()).await;
    assert!(!is_paid(&chain, &terms).await);
    let outcome = chain.pay(PAYER, CHECKOUT, terms.amount, &payment(&terms)).await;
    let _ = outcome.emits(CHECKOUT, [log(&paid(&terms, PAYER))]);
    assert!(is_paid(&chain, &terms).await);
    assert_eq!(chain.balance(MERCHANT).await, terms.amount);
    assert_eq!(chain.balance(PAYER.address()).await, before - terms.amount);
    assert_eq!(chain.balance(CHECKOUT).await, U256::ZERO);
}

#[tokio::test]
async fn the_contract_and_the_library_agree_on_the_id_of_a_quote() {
    let chain = TestChain::start().await;
    assert_eq!(chain.view(CHECKOUT, &Checkout::QUOTE_TYPEHASHCall {}).await, keccak256(QUOTE_TYPE));
    for (amount, salt) in
        [(U256::ONE, B256::ZERO), (U256::MAX, B256::repeat_byte(0xff)), (COIN, B256::repeat_byte(7))]
    {
        let terms = QuoteTerms { amount, salt, ..quote(&chain).await };
        let Checkout::payCall { merchant, deadline, .. } = payment(&terms);
        let id = chain.view(CHECKOUT, &Checkout::getQuoteIdCall { merchant, amount, deadline, salt }).await;
        assert_eq!(id, terms.id());
    }
}

#[tokio::test]
async fn only_the_exact_amount_is_taken() {
    let mut chain = TestChain::start().await;
    chain.mine().await;
    let terms = quote(&chain).await;
    let before = chain.balance(PAYER.address()).await;
    for sent in [U256::ZERO, U256::ONE, terms.amount - U256::ONE, terms.amount + U256::ONE] {
        let wrong = Checkout::PlatformCheckoutWrongAmount { amount: terms.amount, sent };
        chain.pay(PAYER, CHECKOUT, sent, &payment(&terms)).await.reverts_with(wrong);
    }
    assert_untouched(&chain, &terms, before).await;
}

#[tokio::test]
async fn a_quote_is_paid_once_even_by_two_payers_in_one_block() {
    let mut chain = TestChain::start().await;
    chain.mine().await;
    let terms = quote(&chain).await;
    let mut hashes = Vec::new();
    for payer in [PAYER, STRANGER] {
        hashes.push(chain.submit(payer, draft(CHECKOUT, terms.amount, &payment(&terms))).await);
    }
    chain.mine().await;
    let (mut accepted, mut refused) = (0, 0);
    for hash in hashes {
        let outcome = chain.outcome(hash).await;
        if outcome.succeeded {
            accepted += 1;
        } else {
            refused += 1;
            outcome.reverts_with(Checkout::PlatformCheckoutAlreadyPaid { quoteId: terms.id() });
        }
    }
    assert_eq!((accepted, refused), (1, 1));
    assert_eq!(chain.balance(MERCHANT).await, terms.amount);

    let again = Checkout::PlatformCheckoutAlreadyPaid { quoteId: terms.id() };
    chain.pay(PAYER, CHECKOUT, terms.amount, &payment(&terms)).await.reverts_with(again);
    let other = QuoteTerms { salt: B256::repeat_byte(6), ..terms };
    let _ = chain.pay(PAYER, CHECKOUT, other.amount, &payment(&other)).await.succeeds();
}

#[tokio::test]
async fn the_last_second_is_in_time_and_the_next_is_late() {
    let mut chain = TestChain::start().await;
    chain.mine().await;
    let terms = quote(&chain).await;
    let before = chain.balance(PAYER.address()).await;
    // The same quote one second earlier, so that one chain can see both sides of the edge.
    let late = QuoteTerms { deadline: terms.deadline - 3, ..terms };
    chain.next_block_at(late.deadline + 1).await;
    let expired = Checkout::PlatformCheckoutExpired {
        deadline: U256::from(late.deadline),
        timestamp: U256::from(late.deadline + 1),
    };
    chain.pay(PAYER, CHECKOUT, late.amount, &payment(&late)).await.reverts_with(expired);
    assert_untouched(&chain, &late, before).await;

    chain.next_block_at(terms.deadline).await;
    let outcome = chain.pay(PAYER, CHECKOUT, terms.amount, &payment(&terms)).await;
    let _ = outcome.emits(CHECKOUT, [log(&paid(&terms, PAYER))]);
    assert_eq!(chain.now().await, terms.deadline);
}

#[tokio::test]
async fn other_terms_than_the_quoted_ones_are_refused() {
    let mut chain = TestChain::start().await;
    chain.mine().await;
    let quoted = quote(&chain).await;
    let before = chain.balance(PAYER.address()).await;
    let forged = [
        QuoteTerms { merchant: STRANGER.address(), ..quoted },
        QuoteTerms { amount: U256::ONE, ..quoted },
        QuoteTerms { deadline: quoted.deadline + 1, ..quoted },
        QuoteTerms { salt: B256::ZERO, ..quoted },
    ];
    for terms in forged {
        let call = Checkout::payCall { quoteId: quoted.id(), ..payment(&terms) };
        let mismatch = Checkout::PlatformCheckoutQuoteMismatch { quoteId: quoted.id(), expected: terms.id() };
        chain.pay(PAYER, CHECKOUT, terms.amount, &call).await.reverts_with(mismatch);
    }
    for elsewhere in [QuoteTerms { chain_id: 8847, ..quoted }, QuoteTerms { checkout: FEES, ..quoted }] {
        let mismatch =
            Checkout::PlatformCheckoutQuoteMismatch { quoteId: elsewhere.id(), expected: quoted.id() };
        chain.pay(PAYER, CHECKOUT, quoted.amount, &payment(&elsewhere)).await.reverts_with(mismatch);
    }
    assert_untouched(&chain, &quoted, before).await;
}

#[tokio::test]
async fn a_quote_names_a_merchant_and_some_coin() {
    let mut chain = TestChain::start().await;
    chain.mine().await;
    let terms = quote(&chain).await;
    let nobody = QuoteTerms { merchant: Address::ZERO, ..terms };
    let outcome = chain.pay(PAYER, CHECKOUT, terms.amount, &payment(&nobody)).await;
    outcome.reverts_with(Checkout::PlatformCheckoutZeroMerchant {});
    let nothing = QuoteTerms { amount: U256::ZERO, ..terms };
    let outcome = chain.send(PAYER, CHECKOUT, &payment(&nothing)).await;
    outcome.reverts_with(Checkout::PlatformCheckoutZeroAmount {});
}

#[tokio::test]
async fn coin_without_a_quote_reverts_with() {
    let mut chain = TestChain::start().await;
    let before = chain.balance(PAYER.address()).await;
    let bare = || Checkout::PlatformCheckoutBareTransfer {};
    chain.transfer(PAYER, CHECKOUT, COIN).await.reverts_with(bare());
    chain.transfer(PAYER, CHECKOUT, U256::ZERO).await.reverts_with(bare());
    let unknown_selector = Draft { value: COIN, ..Draft::call(CHECKOUT, [1, 2, 3, 4]) };
    chain.mine_one(PAYER, unknown_selector).await.reverts_silently();
    assert_eq!(chain.balance(PAYER.address()).await, before);
    assert_eq!(chain.balance(CHECKOUT).await, U256::ZERO);
}

#[tokio::test]
async fn a_merchant_that_rejects_costs_the_payer_nothing() {
    let mut chain = TestChain::start().await;
    let merchant = chain.deploy(STRANGER, hostile::refuser()).await.deployed();
    let terms = QuoteTerms { merchant, ..quote(&chain).await };
    let before = chain.balance(PAYER.address()).await;
    let rejected = Checkout::PlatformCheckoutMerchantRejected { merchant, amount: terms.amount };
    chain.pay(PAYER, CHECKOUT, terms.amount, &payment(&terms)).await.reverts_with(rejected);
    assert_untouched(&chain, &terms, before).await;
}

#[tokio::test]
async fn a_merchant_cannot_pay_its_own_quote_from_within() {
    let mut chain = TestChain::start().await;
    chain.mine().await;
    let merchant = STRANGER.address().create(chain.nonce(STRANGER));
    let terms = QuoteTerms { merchant, ..quote(&chain).await };
    let meddler = hostile::meddler(CHECKOUT, &payment(&terms).abi_encode());
    assert_eq!(chain.deploy(STRANGER, meddler).await.deployed(), merchant);
    let outcome = chain.pay(PAYER, CHECKOUT, terms.amount, &payment(&terms)).await;
    let _ = outcome.emits(CHECKOUT, [log(&paid(&terms, PAYER))]);
    assert_eq!(chain.balance(merchant).await, terms.amount);
}
