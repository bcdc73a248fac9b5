//! What a delivery looks like, and what answers mean.

use std::time::Duration;

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::portal::{DeliveryState, EventType};
use hmac::{Hmac, Mac};
use sha2::Sha256;
use store::engine_tests;

use crate::{
    receiver::{Receiver, Reply, resetting},
    rig::{HOUR, NOW, Rig, SECOND, wallet},
};

fn hmac(key: &[u8], data: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(data);
    mac.finalize().into_bytes().to_vec()
}

engine_tests! {
    async fn a_delivery_is_signed_in_both_ways_and_carries_the_events_bytes(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Status(200)).await);
        let secret = rig.webhook(wallet(1), &receiver.url()).await;
        let worker = rig.work();
        let (event, delivery) = rig.pay(wallet(1)).await;
        let got = receiver.received(1).await.remove(0);
        let body = format!("{{\"id\":\"{event}\",\"type\":\"payment.completed\",\"sequence\":1,\"data\":{{}}}}");
        assert_eq!(got.body, body.as_bytes());
        assert_eq!(got.path, "/hook");
        let expected = alloy_primitives::hex::encode(hmac(secret.as_str().as_bytes(), &got.body));
        assert_eq!(got.header("x-platform-signature"), format!("sha256={expected}"));
        let key = STANDARD.decode(secret.as_str().strip_prefix("whsec_").unwrap()).unwrap();
        let signed = format!("{event}.{}.{body}", NOW / 1000);
        let expected = STANDARD.encode(hmac(&key, signed.as_bytes()));
        assert_eq!(got.header("webhook-signature"), format!("v1,{expected}"));
        for (name, value) in [
            ("content-type", "application/json"),
            ("x-platform-event", "payment.completed"),
            ("x-platform-event-id", &event.to_string()),
            ("x-platform-delivery", &delivery.to_string()),
            ("x-platform-attempt", "1"),
            ("webhook-id", &event.to_string()),
            ("webhook-timestamp", &(NOW / 1000).to_string()),
        ] {
            assert_eq!(got.header(name), value, "{name}");
        }
        assert!(got.header("user-agent").starts_with("chainnet-webhooks/"));
        assert!(got.headers.get("x-platform-signature-next").is_none());
        let row = rig.reaches(wallet(1), delivery, DeliveryState::Delivered, 1).await;
        assert_eq!((row.attempts, row.last_status, row.last_error), (1, Some(200), None));
        worker.stop().await;
    }

    async fn every_2xx_is_a_success_and_everything_else_a_failure(test: TestDb) {
        let rig = Rig::new(test.db());
        let worker = rig.work();
        for (number, (status, state)) in [
            (200, DeliveryState::Delivered), (204, DeliveryState::Delivered), (299, DeliveryState::Delivered),
            (302, DeliveryState::Pending), (304, DeliveryState::Pending), (400, DeliveryState::Pending),
            (404, DeliveryState::Pending), (500, DeliveryState::Pending), (503, DeliveryState::Pending),
        ].into_iter().enumerate() {
            let wallet = wallet(number as u64);
            let elsewhere = Receiver::start(Reply::Status(200)).await;
            let receiver = Receiver::start(Reply::Header(status, "location", elsewhere.url())).await;
            rig.webhook(wallet, &receiver.url()).await;
            let (_, delivery) = rig.pay(wallet).await;
            let row = rig.reaches(wallet, delivery, state, 1).await;
            assert_eq!(row.last_status, Some(status));
            assert_eq!(elsewhere.count(), 0, "a redirect is not followed");
        }
        worker.stop().await;
    }

    async fn a_410_disables_at_once_and_saving_enables(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Status(410)).await);
        rig.webhook(wallet(1), &receiver.url()).await;
        let (_, first) = rig.pay(wallet(1)).await;
        let worker = rig.work();
        rig.reaches(wallet(1), first, DeliveryState::Pending, 1).await;
        let row = rig.endpoint(wallet(1)).await;
        assert_eq!(row.state.name(), "disabled");
        assert_eq!(row.disabled_reason.as_deref(), Some("the endpoint answered 410 Gone"));
        assert_eq!(row.disabled_at, Some(NOW));
        let entries = rig.db.list_audit(wallet(1), 10).await.unwrap();
        assert!(entries.iter().any(|entry| entry.action.name() == "webhook.disabled"), "{entries:?}");

        let (_, second) = rig.pay(wallet(1)).await;
        rig.advance(48 * HOUR);
        receiver.usually(Reply::Status(200));
        // What is added to another endpoint gets through, so the worker has looked at this one as well.
        let other = Receiver::start(Reply::Status(200)).await;
        rig.webhook(wallet(2), &other.url()).await;
        rig.pay(wallet(2)).await;
        other.received(1).await;
        assert_eq!(receiver.count(), 1, "what is disabled is not sent to");

        assert!(rig.webhooks.save(wallet(1), &receiver.url(), None).await.unwrap().secret.is_none());
        rig.reaches(wallet(1), first, DeliveryState::Delivered, 2).await;
        rig.reaches(wallet(1), second, DeliveryState::Delivered, 1).await;
        let row = rig.endpoint(wallet(1)).await;
        assert_eq!((row.state.name(), row.disabled_reason, row.failures), ("active", None, 0));
        worker.stop().await;
    }

    async fn retry_after_is_honoured(test: TestDb) {
        let rig = Rig::new(test.db());
        let worker = rig.work();
        for (number, (status, after, wait)) in [
            (429, "3600", HOUR), (503, "7200", 2 * HOUR), (503, "999999999", 24 * HOUR), (500, "3600", 0),
        ].into_iter().enumerate() {
            let wallet = wallet(number as u64);
            let receiver = Receiver::start(Reply::Status(200)).await;
            receiver.script([Reply::Header(status, "retry-after", after.to_owned())]);
            rig.webhook(wallet, &receiver.url()).await;
            let (_, delivery) = rig.pay(wallet).await;
            let row = rig.reaches(wallet, delivery, DeliveryState::Pending, 1).await;
            let due = row.due_at - rig.now();
            if wait > 0 {
                assert_eq!(due, wait, "{status} {after}");
                assert_eq!(rig.endpoint(wallet).await.paused_until, rig.now() + wait);
            } else {
                assert!(due <= 6 * SECOND, "{due}");
            }
        }
        worker.stop().await;
    }

    async fn answers_are_read_and_kept_within_bounds(test: TestDb) {
        let rig = Rig::impatient(test.db(), Duration::from_millis(700));
        let receiver = Receiver::start(Reply::Status(200)).await;
        receiver.script([Reply::Body(200, 50_000_000), Reply::Body(500, 3_000), Reply::Trickle(202)]);
        rig.webhook(wallet(1), &receiver.url()).await;
        let worker = rig.work();
        let (_, huge) = rig.pay(wallet(1)).await;
        rig.reaches(wallet(1), huge, DeliveryState::Delivered, 1).await;
        let (_, failed) = rig.pay(wallet(1)).await;
        rig.reaches(wallet(1), failed, DeliveryState::Pending, 1).await;
        let (_, slow) = rig.pay(wallet(1)).await;
        rig.reaches(wallet(1), slow, DeliveryState::Delivered, 1).await;
        for (id, kept) in [(huge, 2_048), (failed, 2_048), (slow, 11)] {
            let (_, attempts) = rig.delivery(wallet(1), id).await;
            assert_eq!(attempts[0].response.as_ref().unwrap().len(), kept);
        }
        worker.stop().await;
    }

    async fn a_server_that_breaks_or_is_not_there_fails_the_attempt(test: TestDb) {
        let rig = Rig::impatient(test.db(), Duration::from_millis(300));
        let hanging = Receiver::start(Reply::Hang).await;
        let closed = Receiver::start(Reply::Hang).await;
        let nobody = closed.url();
        drop(closed);
        let resetting = format!("http://{}/", resetting().await);
        let worker = rig.work();
        for (number, (url, expected)) in
            [(hanging.url(), "no answer within"), (nobody, "no connection"), (resetting, "connection")]
                .into_iter().enumerate()
        {
            let wallet = wallet(number as u64);
            rig.webhook(wallet, &url).await;
            let (_, delivery) = rig.pay(wallet).await;
            let row = rig.reaches(wallet, delivery, DeliveryState::Pending, 1).await;
            let error = row.last_error.unwrap();
            assert!(error.contains(expected), "{error}");
            assert_eq!(row.last_status, None);
        }
        worker.stop().await;
    }

    async fn a_payment_is_told_before_its_invoice(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Status(200)).await);
        rig.webhook(wallet(1), &receiver.url()).await;
        for _ in 0..40 {
            rig.quiet_event(wallet(1), EventType::PaymentCompleted).await;
            rig.quiet_event(wallet(1), EventType::InvoicePaid).await;
        }
        let worker = rig.work();
        let got = receiver.received(80).await;
        let sequence = |body: &[u8]| {
            let event: serde_json::Value = serde_json::from_slice(body).unwrap();
            event["sequence"].as_u64().unwrap()
        };
        let order: Vec<u64> = got.iter().map(|got| sequence(&got.body)).collect();
        for payment in (1..80).step_by(2) {
            let place = |sequence| order.iter().position(|other| *other == sequence).unwrap();
            assert!(place(payment) < place(payment + 1), "{order:?}");
        }
        // One may be opened while another becomes free.
        assert!(receiver.connections() <= 12, "connections are used again: {}", receiver.connections());
        worker.stop().await;
    }
}
