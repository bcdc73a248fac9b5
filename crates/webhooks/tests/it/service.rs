//! Tests of a webhook, and what its owner sees.

use domain::{
    Failure,
    portal::{DeliveryState, EventType},
};
use hyper::StatusCode;
use store::engine_tests;

use crate::{
    receiver::{Receiver, Reply},
    rig::{NOW, Rig, SECOND, wallet},
};

engine_tests! {
    async fn a_test_shows_what_was_sent_and_what_came_back(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Status(202)).await);
        let secret = rig.webhook(wallet(1), &receiver.url()).await;
        let report = rig.webhooks.test(wallet(1)).await.unwrap();
        let got = receiver.got().remove(0);
        assert_eq!(report.body.as_bytes(), &got.body[..]);
        assert_eq!((report.url, report.unix_seconds), (receiver.url(), (NOW / 1000) as i64));
        for (name, value) in &report.headers {
            assert_eq!(got.header(name), *value, "{name}");
        }
        let signature = chainnet_webhooks::platform_signature(&secret, &got.body);
        assert!(report.headers.contains(&("x-platform-signature".to_owned(), signature)));
        let answer = report.answer.unwrap();
        assert_eq!((answer.status, answer.body.as_str()), (StatusCode::ACCEPTED, "thanks"));
        let event: serde_json::Value = serde_json::from_slice(&got.body).unwrap();
        assert_eq!((event["type"].as_str(), event["sequence"].as_u64()), (Some("webhook.test"), Some(1)));
        assert_eq!(event["id"], report.event_id.to_string());

        receiver.usually(Reply::Status(500));
        let failed = rig.webhooks.test(wallet(1)).await.unwrap();
        let rows = rig.webhooks.deliveries(wallet(1), None, None, 10).await.unwrap();
        let states: Vec<_> = rows.iter().map(|row| (row.kind, row.state, row.attempts)).collect();
        assert_eq!(rows.len(), 2);
        assert!(states.contains(&(EventType::WebhookTest, DeliveryState::Delivered, 1)), "{states:?}");
        let (row, attempts) = rig.delivery(wallet(1), failed.delivery_id).await;
        assert_eq!((row.state, attempts.len()), (DeliveryState::Exhausted, 1));
        assert_eq!(attempts[0].error.as_deref(), Some("the endpoint answered 500 Internal Server Error"));
        assert_eq!(rig.endpoint(wallet(1)).await.failures, 0, "a test says nothing about the endpoint");
        assert_eq!(rig.webhooks.events(wallet(1), None, 10).await.unwrap().len(), 2);
    }

    async fn tests_are_limited(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Status(200)).await);
        rig.webhook(wallet(1), &receiver.url()).await;
        for _ in 0..10 {
            rig.webhooks.test(wallet(1)).await.unwrap();
        }
        assert_eq!(rig.webhooks.test(wallet(1)).await.unwrap_err().code(), "rate_limited");
        assert_eq!(receiver.count(), 10);
        rig.advance(60 * SECOND);
        rig.webhooks.test(wallet(1)).await.unwrap();
    }

    async fn lists_are_pages_of_ones_own(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Status(200)).await);
        rig.webhook(wallet(1), &receiver.url()).await;
        rig.webhook(wallet(2), &receiver.url()).await;
        let mut ids = Vec::new();
        for _ in 0..5 {
            rig.advance(1);
            ids.push(rig.pay(wallet(1)).await.1);
        }
        rig.pay(wallet(2)).await;
        ids.reverse();
        let page = async |before, limit| {
            let rows = rig.webhooks.deliveries(wallet(1), None, before, limit).await.unwrap();
            rows.into_iter().map(|row| row.id).collect::<Vec<_>>()
        };
        assert_eq!(page(None, 3).await, ids[..3]);
        assert_eq!(page(Some(ids[2]), 3).await, ids[3..]);
        let pending = Some(DeliveryState::Pending);
        assert_eq!(rig.webhooks.deliveries(wallet(1), pending, None, 100).await.unwrap().len(), 5);
        let delivered = Some(DeliveryState::Delivered);
        assert!(rig.webhooks.deliveries(wallet(1), delivered, None, 100).await.unwrap().is_empty());
        let error = rig.webhooks.delivery(wallet(2), ids[0]).await.unwrap_err();
        assert_eq!(error.code(), "delivery_not_found");
        let error = rig.webhooks.redeliver(wallet(2), ids[0]).await.unwrap_err();
        assert_eq!(error.code(), "delivery_not_found");
        let events = rig.webhooks.events(wallet(1), Some(4), 2).await.unwrap();
        assert_eq!(events.iter().map(|event| event.sequence).collect::<Vec<_>>(), [3, 2]);
    }

    async fn a_wallet_without_a_webhook_has_events_and_no_deliveries(test: TestDb) {
        let rig = Rig::new(test.db());
        rig.pay_fee(wallet(1)).await;
        rig.quiet_event(wallet(1), EventType::PaymentCompleted).await;
        assert_eq!(rig.webhooks.events(wallet(1), None, 10).await.unwrap().len(), 1);
        assert!(rig.webhooks.deliveries(wallet(1), None, None, 10).await.unwrap().is_empty());
    }
}
