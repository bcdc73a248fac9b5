//! A chain that is not the one indexed.

use chainnet_indexer::{HaltReason, IndexStatus, IndexerConfig};
use store::{Db, engine_tests};

use crate::{
    rig::{BEGIN, Rig},
    stage::{Running, Stage, config, index},
};

fn is_halted(status: &IndexStatus) -> bool {
    matches!(status, IndexStatus::Halted { .. })
}

/// Takes two blocks back and makes three others in their place.
async fn rewrite(rig: &Rig, snapshot: u64) {
    assert!(rig.control.revert(snapshot).await.unwrap());
    rig.mine(1).await;
    rig.transfer(9, Rig::stranger(1), 1);
    rig.mine(2).await;
}

engine_tests! {
    async fn a_block_that_does_not_follow_halts_the_index(test: TestDb) {
        let rig = Rig::new();
        rig.mine(3).await;
        let snapshot = rig.control.snapshot().await.unwrap();
        rig.transfer(0, Rig::stranger(2), 1);
        rig.mine(2).await;
        index(rig.client(), test, 5).await;
        let before = test.dump_index().await;
        rewrite(&rig, snapshot).await;

        let stage = Stage::new(rig.client());
        stage.show(6).await;
        let running = Running::start(stage, test.db(), config());
        let status = running.until(is_halted).await;
        let IndexStatus::Halted { at: Some(5), reason: HaltReason::Mismatch { number: 6, expected, found } } = status else {
            panic!("{status:?}");
        };
        assert_ne!(expected, found);
        running.stop().await;
        assert_eq!(test.dump_index().await, before);
    }

    async fn another_block_at_the_height_of_the_index_halts_it_too(test: TestDb) {
        let rig = Rig::new();
        let snapshot = rig.control.snapshot().await.unwrap();
        rig.transfer(0, Rig::stranger(2), 1);
        rig.mine(3).await;
        index(rig.client(), test, 3).await;
        rewrite(&rig, snapshot).await;
        let stage = Stage::new(rig.client());
        stage.show(3).await;
        let running = Running::start(stage, test.db(), config());
        running.until(is_halted).await;
        running.stop().await;
    }

    async fn where_blocks_may_be_taken_back_the_index_is_built_again(test: TestDb) {
        let rig = Rig::new();
        rig.mine(3).await;
        let snapshot = rig.control.snapshot().await.unwrap();
        rig.transfer(0, Rig::stranger(2), 1);
        rig.mine(2).await;
        let rebuilding = IndexerConfig { rebuild_on_mismatch: true, ..config() };
        let running = Running::start(rig.client(), test.db(), rebuilding);
        running.reach(5).await;
        rewrite(&rig, snapshot).await;
        let head = rig.head();
        running.until(|status| *status == IndexStatus::Following { at: head }).await;
        // Whatever it saw of the way there, it ends at the chain's own blocks.
        let hash = rig.chain.head().block.hash;
        assert_eq!(test.index_head().await.unwrap().unwrap().hash, hash);
        running.stop().await;
        let fresh = Db::open(&test.fresh_url().await).await.unwrap();
        index(rig.client(), &fresh, head).await;
        assert_eq!(test.dump_index().await, fresh.dump_index().await);
        fresh.close().await;
    }

    async fn a_node_that_is_behind_is_waited_for(test: TestDb) {
        let rig = Rig::new();
        rig.mine(6).await;
        index(rig.client(), test, 4).await;
        let stage = Stage::new(rig.client());
        stage.show(2).await;
        let running = Running::start(stage.clone(), test.db(), config());
        running.until(|status| *status == IndexStatus::Following { at: 4 }).await;
        stage.show(6).await;
        running.reach(6).await;
        running.stop().await;
    }

    async fn an_index_of_another_chain_is_refused(test: TestDb) {
        let (rig, other) = (Rig::new(), Rig::beginning(BEGIN - 60));
        index(rig.client(), test, 0).await;
        let rebuilding = IndexerConfig { rebuild_on_mismatch: true, ..config() };
        let running = Running::start(other.client(), test.db(), rebuilding);
        let status = running.until(is_halted).await;
        assert!(matches!(&status, IndexStatus::Halted { at: Some(0), reason: HaltReason::OtherChain { .. } }), "{status:?}");
        running.stop().await;
    }
}
