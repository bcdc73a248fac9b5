//! How fast the queue is emptied. Run with `--ignored --nocapture` for the figures.

use std::time::{Duration, Instant};

use domain::portal::EventType;
use store::testing::TestDb;

use crate::{
    receiver::{Receiver, Reply},
    rig::{Rig, until, wallet},
};

async fn drained(rig: &Rig, left: u64) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while rig.db.delivery_backlog().await.unwrap().0 > left {
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures; minutes in a debug build"]
async fn ten_thousand_deliveries_beside_a_dead_endpoint() {
    for wallets in [1u64, 100] {
        let test = TestDb::sqlite().await;
        let rig = Rig::new(test.db());
        let (receiver, dead) =
            (Receiver::start(Reply::Status(200)).await, Receiver::start(Reply::Hang).await);
        for number in 0..wallets {
            rig.webhook(wallet(number), &receiver.url()).await;
        }
        rig.webhook(wallet(5_000), &dead.url()).await;
        for _ in 0..100 {
            rig.quiet_event(wallet(5_000), EventType::PaymentCompleted).await;
        }
        for number in 0..10_000 {
            rig.quiet_event(wallet(number % wallets), EventType::PaymentCompleted).await;
        }
        let started = Instant::now();
        let worker = rig.work();
        drained(&rig, 100).await;
        let took = started.elapsed();
        println!("{wallets} endpoints: 10000 in {took:?}, {:.0}/s", 10_000.0 / took.as_secs_f64());
        assert_eq!(receiver.count(), 10_000);
        worker.kill().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "measures"]
async fn two_hundred_payments_of_a_block_leave_soon() {
    for wallets in [1u64, 200] {
        let test = TestDb::sqlite().await;
        let rig = Rig::new(test.db());
        let receiver = Receiver::start(Reply::Status(200)).await;
        for number in 0..wallets {
            rig.webhook(wallet(number), &receiver.url()).await;
        }
        let worker = rig.work();
        until(async || true).await.unwrap();
        for _ in 0..5 {
            let before = receiver.count();
            for number in 0..200 {
                rig.quiet_event(wallet(number % wallets), EventType::PaymentCompleted).await;
                rig.quiet_event(wallet(number % wallets), EventType::InvoicePaid).await;
            }
            let started = Instant::now();
            rig.bell.notify_one();
            receiver.received(before + 1).await;
            let first = started.elapsed();
            receiver.received(before + 396).await;
            println!(
                "{wallets} endpoints: first {first:?}, 99 of 100 of 400 events after {:?}",
                started.elapsed()
            );
            receiver.received(before + 400).await;
        }
        worker.stop().await;
    }
}
