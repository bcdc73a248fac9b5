//! The schedule, the end of it, and sending again.

use domain::portal::{DeliveryId, DeliveryState, EventType};
use store::engine_tests;

use crate::{
    receiver::{Receiver, Reply},
    rig::{DAY, Rig, SECOND, until, wallet},
};

engine_tests! {
    async fn what_fails_is_tried_again_with_the_same_bytes_until_it_succeeds(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Status(200)).await);
        receiver.script([Reply::Status(500), Reply::Status(404)]);
        rig.webhook(wallet(1), &receiver.url()).await;
        let worker = rig.work();
        let (event, delivery) = rig.pay(wallet(1)).await;
        for (attempt, least, most) in [(1, 4, 6), (2, 24, 36)] {
            let row = rig.reaches(wallet(1), delivery, DeliveryState::Pending, attempt).await;
            let wait = row.due_at - rig.now();
            assert!((least * SECOND..=most * SECOND).contains(&wait), "{wait}");
            rig.advance(wait);
        }
        rig.reaches(wallet(1), delivery, DeliveryState::Delivered, 3).await;
        let row = rig.endpoint(wallet(1)).await;
        assert_eq!((row.failures, row.failing_since, row.delivered_count, row.failed_count), (0, None, 1, 2));
        let got = receiver.got();
        let attempts: Vec<String> = got.iter().map(|got| got.header("x-platform-attempt")).collect();
        assert_eq!(attempts, ["1", "2", "3"]);
        for again in &got {
            assert_eq!(again.body, got[0].body);
            assert_eq!(again.header("x-platform-signature"), got[0].header("x-platform-signature"));
            assert_eq!(again.header("x-platform-event-id"), event.to_string());
        }
        assert_ne!(got[0].header("webhook-timestamp"), got[2].header("webhook-timestamp"));
        assert_ne!(got[0].header("webhook-signature"), got[2].header("webhook-signature"));
        worker.stop().await;
    }

    async fn after_twelve_tries_it_is_a_dead_letter_that_can_be_sent_again(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Status(500)).await);
        rig.webhook(wallet(1), &receiver.url()).await;
        let worker = rig.work();
        let (event, delivery) = rig.pay(wallet(1)).await;
        for attempt in 1..12 {
            rig.reaches(wallet(1), delivery, DeliveryState::Pending, attempt).await;
            // Saving makes what waits due; the clock alone would disable the endpoint before the last attempt.
            rig.webhooks.save(wallet(1), &receiver.url(), None).await.unwrap();
        }
        let dead = rig.reaches(wallet(1), delivery, DeliveryState::Exhausted, 12).await;
        assert_eq!((dead.attempts, dead.finished_at), (12, Some(rig.now())));
        rig.advance(DAY);
        receiver.usually(Reply::Status(200));
        let again = rig.webhooks.redeliver(wallet(1), delivery).await.unwrap();
        assert_ne!(again.id, delivery);
        assert_eq!((again.event_id, again.attempts), (event, 0));
        rig.reaches(wallet(1), again.id, DeliveryState::Delivered, 1).await;
        let got = receiver.got();
        assert_eq!(got.len(), 13);
        assert!(got.iter().all(|one| one.body == got[0].body && one.header("webhook-id") == event.to_string()));
        assert_eq!(got[12].header("x-platform-attempt"), "1");
        assert_eq!(rig.delivery(wallet(1), delivery).await.0.state, DeliveryState::Exhausted);
        worker.stop().await;
    }

    async fn what_ended_is_forgotten_after_thirty_days(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Status(200)).await);
        rig.webhook(wallet(1), &receiver.url()).await;
        let worker = rig.work();
        let (_, old) = rig.pay(wallet(1)).await;
        rig.reaches(wallet(1), old, DeliveryState::Delivered, 1).await;
        worker.stop().await;
        let (_, waiting) = rig.quiet_event(wallet(1), EventType::PaymentCompleted).await;
        rig.advance(20 * DAY);
        let (_, young) = rig.quiet_event(wallet(1), EventType::PaymentCompleted).await;
        rig.advance(10 * DAY + 1);
        let before = rig.now() - 30 * DAY;
        while rig.db.prune_deliveries(before, rig.now()).await.unwrap() {}
        let error = rig.webhooks.redeliver(wallet(1), old).await.unwrap_err();
        assert_eq!(domain::Failure::code(&error), "delivery_pruned");
        assert_eq!(rig.delivery(wallet(1), waiting).await.0.state, DeliveryState::Exhausted);
        assert_eq!(rig.delivery(wallet(1), young).await.0.state, DeliveryState::Pending);
        let events = rig.webhooks.events(wallet(1), None, 10).await.unwrap();
        assert_eq!(events.iter().map(|event| event.sequence).collect::<Vec<_>>(), [3, 2]);
        let never = DeliveryId::new(rig.now(), 5);
        let error = rig.webhooks.redeliver(wallet(1), never).await.unwrap_err();
        assert_eq!(domain::Failure::code(&error), "delivery_not_found");
    }

    async fn another_url_gets_what_waits(test: TestDb) {
        let rig = Rig::new(test.db());
        let (old, new) = (Receiver::start(Reply::Gate).await, Receiver::start(Reply::Status(200)).await);
        rig.webhook(wallet(1), &old.url()).await;
        let worker = rig.work();
        for _ in 0..20 {
            rig.pay(wallet(1)).await;
        }
        old.received(4).await;
        rig.webhooks.save(wallet(1), &new.url(), None).await.unwrap();
        new.received(16).await;
        old.open_gate(4);
        rig.counted(wallet(1), 20, 0).await;
        assert_eq!((old.count(), new.count()), (4, 16));
        until(async || rig.db.delivery_backlog().await.unwrap().0 == 0).await.unwrap();
        worker.stop().await;
    }
}
