//! One endpoint does not hold up another.

use std::time::Duration;

use domain::portal::DeliveryState;
use store::engine_tests;

use crate::{
    receiver::{Receiver, Reply},
    rig::{DAY, HOUR, Rig, until, wallet},
};

engine_tests! {
    async fn an_endpoint_has_four_attempts_under_way_at_most(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Gate).await);
        rig.webhook(wallet(1), &receiver.url()).await;
        for _ in 0..30 {
            rig.pay(wallet(1)).await;
        }
        let worker = rig.work();
        receiver.received(4).await;
        receiver.open_gate(30);
        rig.counted(wallet(1), 30, 0).await;
        assert_eq!((receiver.most_under_way(), receiver.count()), (4, 30));
        worker.stop().await;
    }

    async fn dead_endpoints_hold_up_nobody(test: TestDb) {
        let mut rig = Rig::new(test.db());
        // As many dead ones as would fill every place.
        rig.settings.in_flight = 16;
        let (dead, well) = (Receiver::start(Reply::Hang).await, Receiver::start(Reply::Status(200)).await);
        for number in 0..3 {
            rig.webhook(wallet(number), &dead.url()).await;
            for _ in 0..20 {
                rig.pay(wallet(number)).await;
            }
        }
        let worker = rig.work();
        dead.received(12).await;
        rig.webhook(wallet(9), &well.url()).await;
        for _ in 0..50 {
            rig.pay(wallet(9)).await;
        }
        rig.counted(wallet(9), 50, 0).await;
        assert_eq!(dead.count(), 12);
        worker.kill().await;
    }

    async fn after_ten_failures_one_delivery_probes_and_the_others_lose_nothing(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Status(500)).await);
        rig.webhook(wallet(1), &receiver.url()).await;
        for _ in 0..30 {
            rig.quiet_event(wallet(1), domain::portal::EventType::PaymentCompleted).await;
        }
        let worker = rig.work();
        until(async || rig.endpoint(wallet(1)).await.failures >= 10).await.unwrap();
        // Those that were under way with the tenth end too: then as many have failed as were tried, each once.
        until(async || {
            let row = rig.endpoint(wallet(1)).await;
            let deliveries = rig.webhooks.deliveries(wallet(1), None, None, 100).await.unwrap();
            let tried = deliveries.iter().filter(|delivery| delivery.attempts > 0).count();
            row.paused_until > rig.now() && row.failures == tried as u64 && receiver.count() == tried
        }).await.unwrap();
        let before = receiver.count();
        assert!((10..=13).contains(&before), "{before}");

        // New ones wait as well; then one at a time is tried, in growing distances.
        let (_, newest) = rig.pay(wallet(1)).await;
        for probe in 1..=3 {
            let paused = rig.endpoint(wallet(1)).await.paused_until;
            assert!(paused > rig.now());
            rig.advance(paused - rig.now());
            receiver.received(before + probe).await;
            rig.counted(wallet(1), 0, (before + probe) as u64).await;
        }
        assert_eq!(rig.delivery(wallet(1), newest).await.0.attempts, 0);
        assert_eq!(receiver.count(), before + 3);

        // A success ends it, and all the rest goes out.
        receiver.usually(Reply::Status(200));
        rig.advance(48 * HOUR);
        until(async || rig.db.delivery_backlog().await.unwrap().0 == 0).await.unwrap();
        let row = rig.endpoint(wallet(1)).await;
        assert_eq!((row.delivered_count, row.failures, row.paused_until), (31, 0, 0));
        worker.stop().await;
    }

    async fn five_days_without_a_success_disable(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Status(500)).await);
        rig.webhook(wallet(1), &receiver.url()).await;
        let worker = rig.work();
        let (_, first) = rig.pay(wallet(1)).await;
        rig.reaches(wallet(1), first, DeliveryState::Pending, 1).await;
        rig.advance(5 * DAY - HOUR);
        rig.reaches(wallet(1), first, DeliveryState::Pending, 2).await;
        assert_eq!(rig.endpoint(wallet(1)).await.state.name(), "active");
        rig.advance(HOUR);
        rig.reaches(wallet(1), first, DeliveryState::Pending, 3).await;
        let row = rig.endpoint(wallet(1)).await;
        assert_eq!(row.state.name(), "disabled");
        assert_eq!(row.disabled_reason.as_deref(), Some("nothing could be delivered for 5 days"));
        worker.stop().await;
    }

    async fn many_endpoints_are_served_in_turn(test: TestDb) {
        let mut rig = Rig::impatient(test.db(), Duration::from_secs(15));
        rig.settings.endpoints = 4;
        rig.settings.in_flight = 8;
        let receiver = Receiver::start(Reply::Status(200)).await;
        for number in 0..25 {
            rig.webhook(wallet(number), &receiver.url()).await;
            for _ in 0..4 {
                rig.pay(wallet(number)).await;
            }
        }
        let worker = rig.work();
        until(async || rig.db.delivery_backlog().await.unwrap().0 == 0).await.unwrap();
        assert_eq!(receiver.count(), 100);
        assert!(receiver.most_under_way() <= 8);
        worker.stop().await;
    }
}
