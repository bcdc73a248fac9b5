use std::collections::BTreeMap;

use alloy_primitives::{B256, U256};
use domain::portal::{OrderId, Plan, Scopes};
use proptest::prelude::*;
use store::portal::{Purchase, WalletRow};

use super::*;

const PRICE: u64 = 100;
const END: u64 = 1_000_000;

fn wallet(number: u8) -> Address {
    Address::repeat_byte(number)
}

fn order(number: u8, state: OrderState) -> OrderRow {
    OrderRow {
        id: OrderId::new(0, u128::from(number) << 64),
        wallet: wallet(number % 2),
        purchase: Purchase::Key { plan: Plan::Monthly, name: String::new(), scopes: Scopes::ALL },
        amount: Wei::from_coin(PRICE),
        reference: B256::repeat_byte(number),
        state,
        created_at: 0,
        expires_at: END,
        paid_at: None,
        claimed_at: None,
    }
}

fn quoted(number: u8, state: InvoiceState) -> QuotedInvoice {
    QuotedInvoice {
        // Two quotes of one invoice now and then.
        invoice_id: InvoiceId::new(0, u128::from(number / 2) << 64),
        wallet: wallet(number % 2),
        customer_label: String::new(),
        amount_idr: 1_000,
        note: String::new(),
        external_id: None,
        state,
    }
}

fn payments() -> impl Strategy<Value = Vec<ChainPayment>> {
    let payment = (any::<bool>(), 0u8..12, 98u64..=101, 0u64..3, 0u8..40);
    prop::collection::vec(payment, 0..60).prop_map(|payments| {
        let payment = |(place, (is_quote, number, coin, late, hash)): (u64, (bool, u8, u64, u64, u8))| {
            let name = B256::repeat_byte(number);
            ChainPayment {
                // Some come twice.
                tx_hash: B256::from(U256::from(hash)),
                log_index: 0,
                block_number: place,
                block_time: END - 1 + late,
                payer: wallet(9),
                amount: Wei::from_coin(coin),
                target: if is_quote { PaymentTarget::Quote(name) } else { PaymentTarget::Fee(name) },
            }
        };
        (0..).zip(payments).map(payment).collect()
    })
}

fn ledger(order_state: OrderState, invoice_state: InvoiceState, slots: u64) -> Ledger {
    let row = |address| WalletRow {
        address,
        revision: 0,
        sequence: 10,
        open_count: 100,
        paid_count: 0,
        expired_count: 0,
        void_count: 0,
        revenue_idr: 0,
        revenue: Wei::default(),
        created_at: 0,
    };
    Ledger {
        orders: (0..10).map(|number| (B256::repeat_byte(number), order(number, order_state))).collect(),
        quotes: (0..10).map(|number| (B256::repeat_byte(number), quoted(number, invoice_state))).collect(),
        slots: [(wallet(0), slots), (wallet(1), slots)].into(),
        webhooks: [wallet(1)].into(),
        wallets: [0, 1, 9].map(|number| (wallet(number), row(wallet(number)))).into(),
        ..Ledger::default()
    }
}

proptest! {
    #[test]
    fn whatever_is_paid_is_recorded_settled_and_told_of_once(
        payments in payments(),
        order_state in prop::sample::select(OrderState::ALL),
        invoice_state in prop::sample::select(InvoiceState::ALL),
        slots in 0u64..6,
    ) {
        let credits = decide(&payments, ledger(order_state, invoice_state, slots));
        let mut places: Vec<_> = credits.payments.iter().map(|row| (row.tx_hash, row.log_index)).collect();
        places.sort_unstable();
        places.dedup();
        prop_assert_eq!(places.len(), credits.payments.len(), "each once");

        let mut orders: Vec<_> = credits.orders.iter().map(|paid| paid.id).collect();
        orders.sort_unstable();
        orders.dedup();
        prop_assert_eq!(orders.len(), credits.orders.len(), "an order is paid once");
        let mut invoices: Vec<_> = credits.invoices.iter().map(|paid| paid.id).collect();
        invoices.sort_unstable();
        invoices.dedup();
        prop_assert_eq!(invoices.len(), credits.invoices.len(), "an invoice is paid once");

        let completed = credits.payments.iter().filter(|row| is_completed(row.exception)).count();
        prop_assert_eq!(credits.events.len(), completed + credits.invoices.len());
        let mut next: BTreeMap<Address, u64> = BTreeMap::new();
        for event in &credits.events {
            let last = next.entry(event.wallet).or_insert(10);
            *last += 1;
            prop_assert_eq!(event.sequence, *last, "without a gap");
        }
        for (address, row) in &credits.wallets {
            prop_assert_eq!(row.sequence, next.get(address).copied().unwrap_or(10));
            let paid = credits.invoices.iter().filter(|paid| paid.wallet == *address).count() as u64;
            prop_assert_eq!((row.open_count, row.paid_count, row.revenue_idr), (100 - paid, paid, 1_000 * paid));
        }
        let queued = credits.events.iter().filter(|event| event.wallet == wallet(1)).count();
        prop_assert_eq!(credits.deliveries.len(), queued);

        for address in [wallet(0), wallet(1)] {
            let taken = credits.orders.iter().filter(|paid| {
                paid.state == OrderState::Paid && (0..10).any(|n| order(n, order_state).id == paid.id && wallet(n % 2) == address)
            }).count() as u64;
            if order_state == OrderState::Expired {
                prop_assert!(taken == 0 || slots + taken <= MOST_ACTIVE_KEYS, "{} and {}", slots, taken);
            }
        }
    }

    #[test]
    fn the_same_payments_make_the_same_bytes(payments in payments()) {
        let state = (OrderState::AwaitingPayment, InvoiceState::Open);
        let (first, second) = (decide(&payments, ledger(state.0, state.1, 0)), decide(&payments, ledger(state.0, state.1, 0)));
        prop_assert_eq!(first.events, second.events);
        prop_assert_eq!(first.payments, second.payments);
    }
}

#[test]
fn ids_follow_the_order_of_the_chain() {
    let payment = |block_time: u64, log_index: u32, hash: u8| ChainPayment {
        tx_hash: B256::repeat_byte(hash),
        log_index,
        block_number: 1,
        block_time,
        payer: wallet(9),
        amount: Wei::from_coin(150),
        target: PaymentTarget::Quote(B256::repeat_byte(u8::try_from(log_index).unwrap() * 2)),
    };
    let payments = [payment(5, 0, 9), payment(5, 1, 1), payment(6, 2, 0)];
    let credits = decide(&payments, ledger(OrderState::Claimed, InvoiceState::Open, 0));
    assert!(credits.payments.is_sorted_by_key(|row| row.id) && credits.payments.len() == 3);
    assert!(credits.events.is_sorted_by(|a, b| a.id < b.id) && credits.events.len() == 6);
}
