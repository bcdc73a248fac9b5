//! `PlatformCheckout`: exactly the quoted amount, once, in time, to the merchant.

use alloy_primitives::{Address, B256, Bytes, U256};
use alloy_sol_types::SolCall;
use contracts::address;
use contracts::bindings::PlatformCheckout as Checkout;
use contracts::quote::QuoteTerms;

use super::chain::{CHAIN_ID, COIN, FUNDS, REFUSES, START, STRANGER, TestChain, assert_reverts, calls_back};

const MERCHANT: Address = Address::repeat_byte(0x4e);

fn terms() -> QuoteTerms {
    QuoteTerms {
        chain_id: CHAIN_ID,
        checkout: address::CHECKOUT,
        merchant: MERCHANT,
        amount: COIN,
        deadline: START + 900,
        salt: B256::repeat_byte(5),
    }
}

fn call(terms: &QuoteTerms) -> Checkout::payCall {
    Checkout::payCall {
        quoteId: terms.id(),
        merchant: terms.merchant,
        amount: terms.amount,
        deadline: U256::from(terms.deadline),
        salt: terms.salt,
    }
}

fn is_paid(chain: &mut TestChain, terms: &QuoteTerms) -> bool {
    chain.view(address::CHECKOUT, Checkout::isPaidCall { quoteId: terms.id() })
}

#[test]
fn a_quote_is_paid_to_the_merchant_and_logged() {
    let mut chain = TestChain::new();
    let terms = terms();
    let id = Checkout::getQuoteIdCall {
        merchant: MERCHANT,
        amount: terms.amount,
        deadline: U256::from(terms.deadline),
        salt: terms.salt,
    };
    assert_eq!(chain.view(address::CHECKOUT, id), terms.id());

    chain.now = terms.deadline;
    chain.pay(STRANGER, address::CHECKOUT, COIN, call(&terms)).unwrap();
    let event: Checkout::QuotePaid = chain.event();
    assert_eq!((event.quoteId, event.merchant, event.payer), (terms.id(), MERCHANT, STRANGER));
    assert_eq!((event.amount, event.deadline), (COIN, U256::from(terms.deadline)));
    assert_eq!(event.salt, terms.salt);
    assert_eq!(chain.balance(MERCHANT), COIN);
    assert_eq!(chain.balance(address::CHECKOUT), U256::ZERO);
    assert!(is_paid(&mut chain, &terms));
}

#[test]
fn a_second_late_or_inexact_payment_is_refused() {
    let mut chain = TestChain::new();
    let terms = terms();
    for sent in [U256::ZERO, COIN - U256::ONE, COIN + U256::ONE] {
        assert_reverts(
            chain.pay(STRANGER, address::CHECKOUT, sent, call(&terms)),
            Checkout::PlatformCheckoutWrongAmount { amount: COIN, sent },
        );
    }
    chain.now = terms.deadline + 1;
    assert_reverts(
        chain.pay(STRANGER, address::CHECKOUT, COIN, call(&terms)),
        Checkout::PlatformCheckoutExpired {
            deadline: U256::from(terms.deadline),
            timestamp: U256::from(terms.deadline + 1),
        },
    );
    chain.now = START;
    chain.pay(STRANGER, address::CHECKOUT, COIN, call(&terms)).unwrap();
    assert_reverts(
        chain.pay(STRANGER, address::CHECKOUT, COIN, call(&terms)),
        Checkout::PlatformCheckoutAlreadyPaid { quoteId: terms.id() },
    );
    assert_eq!(chain.balance(STRANGER), FUNDS - COIN);
}

#[test]
fn other_terms_than_the_quoted_ones_are_refused() {
    let mut chain = TestChain::new();
    let quoted = terms();
    let others = [
        QuoteTerms { merchant: STRANGER, ..quoted },
        QuoteTerms { amount: U256::ONE, ..quoted },
        QuoteTerms { deadline: START + 901, ..quoted },
        QuoteTerms { salt: B256::ZERO, ..quoted },
    ];
    for other in others {
        let forged = Checkout::payCall { quoteId: quoted.id(), ..call(&other) };
        assert_reverts(
            chain.pay(STRANGER, address::CHECKOUT, other.amount, forged),
            Checkout::PlatformCheckoutQuoteMismatch { quoteId: quoted.id(), expected: other.id() },
        );
    }
    for elsewhere in [QuoteTerms { chain_id: 1, ..quoted }, QuoteTerms { checkout: STRANGER, ..quoted }] {
        assert_reverts(
            chain.pay(STRANGER, address::CHECKOUT, COIN, call(&elsewhere)),
            Checkout::PlatformCheckoutQuoteMismatch { quoteId: elsewhere.id(), expected: quoted.id() },
        );
    }
}

#[test]
fn a_quote_has_a_merchant_and_an_amount() {
    let mut chain = TestChain::new();
    let nobody = QuoteTerms { merchant: Address::ZERO, ..terms() };
    assert_reverts(
        chain.pay(STRANGER, address::CHECKOUT, COIN, call(&nobody)),
        Checkout::PlatformCheckoutZeroMerchant {},
    );
    let nothing = QuoteTerms { amount: U256::ZERO, ..terms() };
    assert_reverts(
        chain.send(STRANGER, address::CHECKOUT, call(&nothing)),
        Checkout::PlatformCheckoutZeroAmount {},
    );
}

#[test]
fn a_merchant_that_refuses_costs_the_payer_nothing() {
    let mut chain = TestChain::new();
    chain.set_code(MERCHANT, REFUSES);
    assert_reverts(
        chain.pay(STRANGER, address::CHECKOUT, COIN, call(&terms())),
        Checkout::PlatformCheckoutMerchantRejected { merchant: MERCHANT, amount: COIN },
    );
    assert_eq!(chain.balance(STRANGER), FUNDS);
    assert!(!is_paid(&mut chain, &terms()));
}

#[test]
fn a_merchant_cannot_pay_the_same_quote_from_within() {
    let mut chain = TestChain::new();
    chain.set_code(MERCHANT, calls_back(address::CHECKOUT, &call(&terms()).abi_encode()));
    chain.pay(STRANGER, address::CHECKOUT, COIN, call(&terms())).unwrap();
    let _: Checkout::QuotePaid = chain.event();
    assert_eq!(chain.balance(MERCHANT), COIN);
}

#[test]
fn coin_without_a_quote_is_refused() {
    let mut chain = TestChain::new();
    assert_reverts(
        chain.raw(STRANGER, address::CHECKOUT, COIN, Bytes::new()),
        Checkout::PlatformCheckoutBareTransfer {},
    );
    assert!(chain.raw(STRANGER, address::CHECKOUT, COIN, Bytes::from_static(&[1, 2, 3, 4])).is_err());
}
