//! Crediting with rivals, and broken off at any moment.

use std::{collections::BTreeSet, time::Duration};

use rand::{Rng, SeedableRng, rngs::StdRng};
use store::{
    Db, engine_tests,
    portal::{OrderRow, Purchase},
};

use crate::{
    rig::{Index, credit, credited, order, settings, start, wallet},
    scenario::{Scenario, check},
};

/// More than go into one transaction.
const PAYMENTS: usize = 300;

/// What comes of the scenario when nothing disturbs it.
async fn undisturbed(url: &str) -> crate::rig::Books {
    let db = Db::open(url).await.unwrap();
    let mut index = Index::open(&db).await;
    let scenario = Scenario::prepare(&db, PAYMENTS, 12).await;
    let last = scenario.play(&mut index).await;
    credit(&db, last).await;
    let books = check(&db, scenario.payments).await;
    db.close().await;
    books
}

engine_tests! {
    async fn rivals_credit_every_payment_once(test: TestDb) {
        let expected = undisturbed(&test.fresh_url().await).await;
        let mut index = Index::open(test).await;
        let scenario = Scenario::prepare(test, PAYMENTS, 12).await;
        let rivals: Vec<_> = (0..4).map(|_| start(test, settings())).collect();
        let last = scenario.play(&mut index).await;
        credited(test, last).await;
        for rival in rivals {
            rival.stop().await;
        }
        assert_eq!(check(test, scenario.payments).await, expected);
    }

    async fn of_many_who_ask_for_the_webhook_fee_at_once_all_get_one_order(test: TestDb) {
        let asking: Vec<_> = (0..32)
            .map(|number| {
                let db = test.db();
                let order = OrderRow { purchase: Purchase::Webhook, ..order(wallet(1), number) };
                tokio::spawn(async move { db.open_webhook_order(&order).await.unwrap().id })
            })
            .collect();
        let mut given = BTreeSet::new();
        for asked in asking {
            given.insert(asked.await.unwrap());
        }
        assert_eq!(given.len(), 1, "{given:?}");
    }

    async fn broken_off_at_any_moment_nothing_is_lost_or_done_twice(test: TestDb) {
        let expected = undisturbed(&test.fresh_url().await).await;
        let mut dice = StdRng::seed_from_u64(3);
        let mut index = Index::open(test).await;
        let scenario = Scenario::prepare(test, PAYMENTS, 12).await;
        let mut last = 0;
        for block in &scenario.blocks {
            last = index.block(block).await;
            let running = start(test, settings());
            tokio::time::sleep(Duration::from_micros(dice.random_range(0..8_000))).await;
            running.kill().await;
        }
        credit(test, last).await;
        assert_eq!(check(test, scenario.payments).await, expected);
    }
}
