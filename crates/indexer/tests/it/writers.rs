//! Several workers on one database.

use chainnet_indexer::IndexStatus;
use store::{Db, engine_tests};

use crate::{
    rig::Rig,
    stage::{Running, Stage, config, index},
};

engine_tests! {
    async fn one_of_two_workers_writes_and_the_other_takes_over(test: TestDb) {
        let rig = Rig::new();
        rig.mine(50).await;
        let second_db = Db::open(test.url()).await.unwrap();
        let (first_stage, second_stage) = (Stage::new(rig.client()), Stage::new(rig.client()));
        let first = Running::start(first_stage.clone(), test.db(), config());
        first_stage.show(50).await;
        first.reach(50).await;
        // The second finds a complete index; from here on both want every block.
        let second = Running::start(second_stage.clone(), second_db.clone(), config());
        second_stage.show(50).await;
        second.until(|status| *status == IndexStatus::Following { at: 50 }).await;

        for number in 51..=60 {
            rig.transfer(0, Rig::stranger(number), 1);
            rig.mine(1).await;
            first_stage.show(number as u64).await;
            second_stage.show(number as u64).await;
            first.until(|status| at(status) == Some(number as u64)).await;
        }
        first.stop().await;
        rig.mine(3).await;
        second_stage.show(63).await;
        second.reach(63).await;
        second.stop().await;
        second_db.close().await;

        let fresh = Db::open(&test.fresh_url().await).await.unwrap();
        index(rig.client(), &fresh, 63).await;
        assert_eq!(test.dump_index().await, fresh.dump_index().await);
        fresh.close().await;
    }

    async fn workers_that_start_together_build_one_index(test: TestDb) {
        let rig = Rig::new();
        rig.live_through_everything().await;
        rig.mine(100).await;
        let head = rig.head();
        let client = rig.client();
        let workers: Vec<_> = (0..3).map(|_| Running::start(client.clone(), test.db(), config())).collect();
        for worker in &workers {
            worker.until(|status| at(status) == Some(head)).await;
        }
        for worker in workers {
            worker.stop().await;
        }
        let fresh = Db::open(&test.fresh_url().await).await.unwrap();
        index(rig.client(), &fresh, head).await;
        assert_eq!(test.dump_index().await, fresh.dump_index().await);
        fresh.close().await;
    }
}

/// Where a worker says the index is.
fn at(status: &IndexStatus) -> Option<u64> {
    match status {
        IndexStatus::Following { at } => Some(*at),
        IndexStatus::Standby { at } | IndexStatus::Backfilling { at, .. } => *at,
        IndexStatus::Starting | IndexStatus::Halted { .. } => None,
    }
}
