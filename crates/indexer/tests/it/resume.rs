//! An index that was broken off anywhere is completed to the same rows.

use chainnet_indexer::IndexStatus;
use store::{Db, engine_tests};

use crate::{
    rig::Rig,
    stage::{Running, Stage, config, index},
};

engine_tests! {
    async fn an_index_cut_at_any_block_is_completed_row_for_row(test: TestDb) {
        let rig = Rig::new();
        rig.live_through_everything().await;
        index(rig.client(), test, rig.head()).await;
        let whole = test.dump_index().await;

        // Every block has been the cut once when the end is reached.
        let db = Db::open(&test.fresh_url().await).await.unwrap();
        for cut in 0..=rig.head() {
            index(rig.client(), &db, cut).await;
            assert_eq!(db.index_head().await.unwrap().unwrap().number, cut);
        }
        assert_eq!(db.dump_index().await, whole);
        db.close().await;
    }

    async fn an_indexer_broken_off_in_the_middle_of_its_work_is_resumed(test: TestDb) {
        let rig = Rig::new();
        for round in 0..6 {
            rig.transfer(round, Rig::stranger(round), 1);
            rig.mine(40).await;
        }
        let fresh = Db::open(&test.fresh_url().await).await.unwrap();
        index(rig.client(), &fresh, rig.head()).await;
        loop {
            let stage = Stage::new(rig.client());
            stage.show(rig.head()).await;
            let running = Running::start(stage, test.db(), config());
            // As soon as something new is written, or at the end.
            let before = test.index_head().await.unwrap().map(|head| head.number);
            let status = running
                .until(|status| match status {
                    IndexStatus::Backfilling { at, .. } => *at > before,
                    IndexStatus::Following { .. } => true,
                    _ => false,
                })
                .await;
            running.stop().await;
            if status == (IndexStatus::Following { at: rig.head() }) {
                break;
            }
        }
        assert_eq!(test.dump_index().await, fresh.dump_index().await);
        fresh.close().await;
    }

    async fn a_failing_node_costs_time_but_no_block(test: TestDb) {
        let rig = Rig::new();
        rig.live_through_everything().await;
        let stage = Stage::failing(rig.client(), 5);
        // Showing the head is a read of its own, past the failures.
        stage.show(rig.head()).await;
        let running = Running::start(stage, test.db(), config());
        running.reach(rig.head()).await;
        running.stop().await;
        let fresh = Db::open(&test.fresh_url().await).await.unwrap();
        index(rig.client(), &fresh, rig.head()).await;
        assert_eq!(test.dump_index().await, fresh.dump_index().await);
        fresh.close().await;
    }

    async fn a_running_indexer_follows_each_new_head(test: TestDb) {
        let rig = Rig::new();
        let running = Running::start(rig.client(), test.db(), config());
        running.reach(0).await;
        for number in 1..=5 {
            rig.transfer(0, Rig::stranger(number), 1);
            rig.mine(1).await;
            running.reach(number as u64).await;
            assert_eq!(test.list_transactions(None, 10).await.unwrap().len(), number);
        }
        running.stop().await;
    }
}
