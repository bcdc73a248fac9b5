//! What becomes of a payment.

use std::time::Instant;

use alloy_primitives::B256;
use domain::{
    Wei,
    portal::{
        Actor, AuditAction, AuditId, EventType, InvoiceState, OrderId, OrderState, PaymentException,
        PaymentPurpose,
    },
};
use serde_json::{Value, json};
use store::{
    engine_tests,
    portal::{AuditRow, OrderRow, Purchase},
};

use crate::rig::{
    BEGIN, Index, LIFE, MINUTE, NOW, Paid, books, credit, credited, open_invoice, open_order, order,
    settings, start, wallet,
};

fn exceptions(payments: &[store::portal::PaymentRow]) -> Vec<PaymentException> {
    // Listed newest first.
    payments.iter().rev().map(|payment| payment.exception).collect()
}

engine_tests! {
    async fn an_order_is_paid_by_anybody_and_told_of(test: TestDb) {
        let mut index = Index::open(test).await;
        let order = open_order(test, wallet(1), 1).await;
        index.block(&[Paid::OtherFee(order.reference)]).await;
        let last = index.block(&[Paid::Fee(order.reference, wallet(2), order.amount)]).await;
        credit(test, last).await;

        let books = books(test, [wallet(1), wallet(2)]).await;
        let [paid] = &books.orders[..] else { panic!("{books:?}") };
        assert_eq!((paid.state, paid.paid_at), (OrderState::Paid, Some(NOW + 2_000)));
        let [payment] = &books.payments[..] else { panic!("{books:?}") };
        assert_eq!((payment.wallet, payment.payer, payment.order_id), (wallet(1), wallet(2), Some(order.id)));
        assert_eq!((payment.purpose, payment.exception), (PaymentPurpose::ApiKey, PaymentException::None));
        assert_eq!((payment.block_number, payment.block_time, payment.log_index), (1, NOW + 2_000, 0));
        let [event] = &books.events[..] else { panic!("{books:?}") };
        assert_eq!((event.kind, event.sequence), (EventType::PaymentCompleted, 1));
        let body: Value = serde_json::from_slice(&event.body).unwrap();
        let expected = json!({
            "id": event.id.to_string(), "type": "payment.completed", "apiVersion": "2026-01-01",
            "createdAt": "2026-01-01T00:00:02Z", "sequence": 1,
            "data": {
                "order": {
                    "id": order.id.to_string(), "kind": "api_key", "plan": "monthly", "status": "paid",
                    "amount": "100", "amountWei": "100000000000000000000", "paidAt": "2026-01-01T00:00:02Z",
                },
                "payment": {
                    "id": payment.id.to_string(), "purpose": "api_key", "exception": "none",
                    "txHash": payment.tx_hash, "logIndex": 0, "blockNumber": 1,
                    "payer": "0x0202020202020202020202020202020202020202", "merchant": null,
                    "amount": "100", "amountWei": "100000000000000000000", "quoteId": null,
                },
            },
        });
        assert_eq!(body, expected);
    }

    async fn an_invoice_is_paid_counted_and_told_of_twice(test: TestDb) {
        let mut index = Index::open(test).await;
        let (first, quote) = open_invoice(test, wallet(1), 1).await;
        let (_, other) = open_invoice(test, wallet(1), 2).await;
        let foreign = B256::repeat_byte(9);
        index.block(&[]).await;
        let last = index
            .block(&[
                Paid::Quote(foreign, wallet(1), Wei::from_coin(1)),
                Paid::Quote(quote, wallet(1), Wei::from_coin(150)),
                Paid::Quote(other, wallet(1), Wei::from_coin(150)),
            ])
            .await;
        credit(test, last).await;

        let record = test.find_invoice(wallet(1), first).await.unwrap().unwrap();
        assert_eq!((record.invoice.state, record.invoice.paid_at), (InvoiceState::Paid, Some(NOW + 2_000)));
        assert_eq!(record.quote, None, "it cannot be paid again");
        assert_eq!(record.payment.map(|payment| payment.quote_id), Some(Some(quote)));
        let books = books(test, [wallet(1)]).await;
        let row = &books.wallets[0];
        assert_eq!((row.open_count, row.paid_count, row.revenue_idr), (0, 2, 300_000));
        assert_eq!((row.revenue, row.sequence), (Wei::from_coin(300), 4));
        assert_eq!(books.payments.len(), 2, "a quote that is not ours is nobody's");
        let kinds: Vec<EventType> = books.events.iter().rev().map(|event| event.kind).collect();
        use EventType::{InvoicePaid, PaymentCompleted};
        assert_eq!(kinds, [PaymentCompleted, InvoicePaid, PaymentCompleted, InvoicePaid]);
        let body: Value = serde_json::from_slice(&books.events[2].body).unwrap();
        assert_eq!(body["data"]["invoice"], json!({
            "id": first.to_string(), "status": "paid", "exception": "none", "customerLabel": "Budi #1042",
            "amountIdr": 150_000, "note": "Kopi susu 6x", "externalId": "ORD-1", "paidAt": "2026-01-01T00:00:02Z",
        }));
        assert_eq!(body["data"]["payment"]["merchant"], "0x0101010101010101010101010101010101010101");
        assert_eq!(body["data"]["payment"]["quoteId"], json!(quote));
    }

    async fn odd_payments_are_recorded_and_not_told_of(test: TestDb) {
        let mut index = Index::open(test).await;
        let order = open_order(test, wallet(1), 1).await;
        let fee = |amount| Paid::Fee(order.reference, wallet(1), amount);
        let unknown = Paid::Fee(B256::repeat_byte(7), wallet(3), Wei::from_coin(5));
        index.block(&[fee(Wei::from_coin(99)), unknown]).await;
        let last = index.block(&[fee(Wei::from_coin(150)), fee(order.amount)]).await;
        credit(test, last).await;
        let books = books(test, [wallet(1), wallet(3)]).await;
        use PaymentException::{Duplicate, Overpaid, Underpaid, Unmatched};
        assert_eq!(exceptions(&books.payments), [Unmatched, Underpaid, Overpaid, Duplicate]);
        assert_eq!(books.orders[0].state, OrderState::Paid);
        assert_eq!(books.events.len(), 1, "of the one that settled it");
        assert_eq!(books.wallets.len(), 2, "who is owed something is known");
    }

    async fn late_payments_count_if_there_is_a_slot(test: TestDb) {
        let mut index = Index::open(test).await;
        for number in 0..7 {
            assert!(matches!(
                test.open_key_order(&order(wallet(1), number), 7, None).await.unwrap(),
                store::portal::KeyOrdering::Opened
            ));
        }
        let late = BEGIN + LIFE / 1000 + 1;
        // Four are paid in time; the other three expire with the next block.
        let fee = |number| Paid::Fee(order(wallet(1), number).reference, wallet(1), Wei::from_coin(100));
        index.block(&[fee(0), fee(1), fee(2), fee(3)]).await;
        let expired = index.block_at(late, &[]).await;
        credit(test, expired).await;
        let states = async || {
            let orders = test.list_orders(wallet(1), None, 10).await.unwrap();
            orders.iter().rev().map(|order| order.state).collect::<Vec<_>>()
        };
        use OrderState::{Expired, Paid as IsPaid, PaidWaiting};
        assert_eq!(states().await, [IsPaid, IsPaid, IsPaid, IsPaid, Expired, Expired, Expired]);
        let last = index.block_at(late + 2, &[fee(4), fee(5)]).await;
        credit(test, last).await;
        assert_eq!(states().await, [IsPaid, IsPaid, IsPaid, IsPaid, IsPaid, PaidWaiting, Expired]);
        let payments = test.list_payments(wallet(1), None, 10).await.unwrap();
        assert_eq!(exceptions(&payments)[4..], [PaymentException::PaidLate, PaymentException::PaidLate]);
        let events = test.list_events(wallet(1), None, 10).await.unwrap();
        assert_eq!(events.len(), 6, "both are told of");
    }

    async fn events_are_queued_for_wallets_with_a_webhook(test: TestDb) {
        let mut index = Index::open(test).await;
        let fee = OrderRow {
            id: OrderId::new(NOW, 9),
            purchase: Purchase::Webhook,
            amount: Wei::from_coin(1),
            ..order(wallet(1), 9)
        };
        assert_eq!(test.open_webhook_order(&fee).await.unwrap(), fee);
        let again = OrderRow { id: OrderId::new(NOW + 1, 9), reference: B256::repeat_byte(3), ..fee.clone() };
        assert_eq!(test.open_webhook_order(&again).await.unwrap(), fee, "one at a time");
        let paid = index.block(&[Paid::Fee(fee.reference, wallet(1), fee.amount)]).await;
        credit(test, paid).await;
        assert_eq!(test.open_webhook_order(&again).await.unwrap().state, OrderState::Paid);
        let audit = AuditRow {
            id: AuditId::new(NOW, 1),
            wallet: Some(wallet(1)),
            actor: Actor::Wallet,
            action: AuditAction::WebhookSaved,
            target: "shop.example".to_owned(),
            origin: None,
            at: NOW,
        };
        let saved = test.add_webhook(wallet(1), "https://shop.example/", b"sealed", &audit).await.unwrap();
        assert!(saved.is_some());
        assert_eq!(test.delivery_backlog().await.unwrap().0, 0);
        let (_, quote) = open_invoice(test, wallet(1), 1).await;
        let last = index.block(&[Paid::Quote(quote, wallet(1), Wei::from_coin(150))]).await;
        credit(test, last).await;
        assert_eq!(test.delivery_backlog().await.unwrap().0, 2, "payment.completed and invoice.paid");
        let next = OrderRow { id: OrderId::new(NOW + MINUTE, 9), reference: B256::repeat_byte(4), ..fee };
        assert_eq!(test.open_webhook_order(&next).await.unwrap(), next, "the paid one is claimed");
    }

    async fn two_hundred_payments_of_a_block_are_credited_together(test: TestDb) {
        let mut index = Index::open(test).await;
        let mut paid = Vec::new();
        for number in 0..200 {
            let merchant = wallet((number % 200) as u8 + 1);
            let (_, quote) = open_invoice(test, merchant, number).await;
            paid.push(Paid::Quote(quote, merchant, Wei::from_coin(150)));
        }
        let running = start(test, settings());
        let first = index.block(&[]).await;
        credited(test, first).await;
        let last = index.block(&paid).await;
        let began = Instant::now();
        credited(test, last).await;
        eprintln!("200 payments to 200 merchants credited in {:?}", began.elapsed());
        running.stop().await;
        let books = books(test, (1..=200).map(wallet)).await;
        assert_eq!((books.payments.len(), books.events.len()), (200, 400));
    }
}
