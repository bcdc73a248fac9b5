//! Dying in between, and several workers.

use std::collections::HashMap;

use domain::portal::{DeliveryState, EventType};
use store::{engine_tests, portal::Lease};

use crate::{
    receiver::{Receiver, Reply},
    rig::{Rig, SECOND, until, wallet},
};

engine_tests! {
    async fn what_was_under_way_at_a_kill_is_sent_again_after_the_lease(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Gate).await);
        rig.webhook(wallet(1), &receiver.url()).await;
        for _ in 0..6 {
            rig.pay(wallet(1)).await;
        }
        let worker = rig.work();
        receiver.received(4).await;
        worker.kill().await;
        receiver.usually(Reply::Status(200));

        let worker = rig.work();
        rig.advance(59 * SECOND);
        // Somebody else's delivery shows that the new worker has looked.
        let other = Receiver::start(Reply::Status(200)).await;
        rig.webhook(wallet(2), &other.url()).await;
        rig.pay(wallet(2)).await;
        other.received(1).await;
        assert_eq!(receiver.count(), 4, "the lease of the dead holds");
        rig.advance(2 * SECOND);
        until(async || rig.db.delivery_backlog().await.unwrap().0 == 0).await.unwrap();
        let got = receiver.got();
        let mut bodies: HashMap<String, Vec<_>> = HashMap::new();
        for got in &got {
            bodies.entry(got.header("webhook-id")).or_default().push(got.body.clone());
        }
        assert_eq!((bodies.len(), got.len()), (6, 10));
        assert!(bodies.values().all(|same| same.iter().all(|body| *body == same[0])));
        let attempts = got.iter().filter(|got| got.header("x-platform-attempt") == "2").count();
        assert_eq!(attempts, 6, "taking counts");
        worker.stop().await;
    }

    async fn what_never_comes_to_an_end_is_given_up(test: TestDb) {
        let (mut rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Status(200)).await);
        rig.settings.ahead = 1;
        rig.webhook(wallet(1), &receiver.url()).await;
        let (_, delivery) = rig.pay(wallet(1)).await;
        let portion = store::portal::Portion { healthy: 1, failing: 1, probing: 1, probed_after: 10 };
        rig.db.route_deliveries(rig.now()).await.unwrap();
        for attempt in 1..=12 {
            let lease = Lease { now: rig.now(), until: rig.now() + 60 * SECOND };
            let taken = rig.db.take_endpoints(lease, 10, portion).await.unwrap();
            assert_eq!(taken[0].claimed[0].attempt, attempt);
            assert!(rig.db.take_endpoints(lease, 10, portion).await.unwrap().is_empty());
            rig.advance(60 * SECOND);
        }
        let worker = rig.work();
        let row = rig.reaches(wallet(1), delivery, DeliveryState::Exhausted, 1).await;
        assert_eq!(row.last_error.as_deref(), Some("no attempt came to an end"));
        assert_eq!(receiver.count(), 0);
        worker.stop().await;
    }

    async fn several_workers_deliver_each_row_once(test: TestDb) {
        let (rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Status(200)).await);
        for number in 0..8 {
            rig.webhook(wallet(number), &receiver.url()).await;
        }
        let workers: Vec<_> = (0..3).map(|_| rig.work()).collect();
        for round in 0..25 {
            for number in 0..8 {
                rig.quiet_event(wallet(number), EventType::PaymentCompleted).await;
            }
            if round % 5 == 0 {
                rig.bell.notify_waiters();
            }
        }
        rig.bell.notify_waiters();
        until(async || rig.db.delivery_backlog().await.unwrap().0 == 0).await.unwrap();
        let mut ids: Vec<String> = receiver.got().iter().map(|got| got.header("x-platform-delivery")).collect();
        assert_eq!(ids.len(), 200);
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 200);
        for worker in workers {
            worker.stop().await;
        }
    }

    async fn a_worker_that_is_stopped_gives_back_what_it_has(test: TestDb) {
        let (mut rig, receiver) = (Rig::new(test.db()), Receiver::start(Reply::Gate).await);
        rig.settings.farewell = std::time::Duration::from_millis(50);
        rig.webhook(wallet(1), &receiver.url()).await;
        for _ in 0..10 {
            rig.pay(wallet(1)).await;
        }
        let worker = rig.work();
        receiver.received(4).await;
        worker.stop().await;
        receiver.usually(Reply::Status(200));
        let worker = rig.work();
        receiver.received(10).await;
        let again = receiver.got();
        let fresh = again[4..].iter().filter(|got| got.header("x-platform-attempt") == "1").count();
        assert_eq!(fresh, 6, "what was not started did not lose an attempt");
        worker.stop().await;
    }
}
