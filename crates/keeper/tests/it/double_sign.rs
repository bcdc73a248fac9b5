//! Two chains from one genesis with the same keys: whoever sealed on both has signed twice.

use std::sync::Arc;

use async_trait::async_trait;
use chain::{ChainClient, ChainError, Head, Witness};
use devchain::client::EmbeddedClient;
use store::{
    engine_tests,
    keeper::{KeeperTask, OffenceKind},
    testing::TestDb,
};

use crate::rig::{Rig, SLASHER, account, node, run};

/// A node that can be asked on its own.
struct Alone(Arc<EmbeddedClient>);

#[async_trait]
impl Witness for Alone {
    fn name(&self) -> String {
        "alone".to_owned()
    }

    fn newest(&self) -> Option<u64> {
        self.0.heads().borrow().as_ref().map(|head| head.number())
    }

    async fn header(&self, number: u64) -> Result<Option<Head>, ChainError> {
        let block = self.0.block(number).await?;
        Ok(block.map(|block| Head { header: block.header.clone(), hash: block.hash }))
    }
}

async fn evidence(rig: &Rig, number: u64) -> usize {
    rig.db.offences_of(node(number), OffenceKind::DoubleSign, 10).await.unwrap().len()
}

/// Both chains have these blocks, byte for byte.
async fn share(rigs: [&Rig; 2], blocks: u64) {
    for _ in 0..blocks {
        let time = rigs[0].chain.head().block.header.timestamp + 2;
        for rig in rigs {
            rig.mine_at(time).await;
        }
    }
    assert_eq!(rigs[0].chain.head().block.hash, rigs[1].chain.head().block.hash);
}

engine_tests! {
    async fn whoever_sealed_two_blocks_of_one_height_and_round_is_found_and_slashed_once(test: TestDb) {
        let other_db = TestDb::sqlite().await;
        let (rig, other) = (Rig::start(test.db()), Rig::start(other_db.db()));
        let witness = Arc::new(Alone(other.client.clone()));
        let keeper = rig.make(Some(account(SLASHER)), rig.slashing()).with_witnesses(vec![witness]);
        let running = run(keeper);
        share([&rig, &other], 5).await;
        rig.looked(&running).await;
        assert_eq!(running.metric("keeper_forked_nodes "), 0.0);

        let time = rig.chain.head().block.header.timestamp;
        other.mine_at(time + 7).await;
        other.mine(3).await;
        rig.mine_at(time + 2).await;
        rig.looked(&running).await;
        assert_eq!(running.metric("keeper_forked_nodes "), 1.0);
        let mut found = 0;
        for number in 1..=5 {
            found += evidence(&rig, number).await;
        }
        assert!(found >= 3, "two quorums of four out of five share three at least: {found}");
        rig.pooled(found).await;
        rig.mine(1).await;
        let mut slashed = 0;
        for number in 1..=5 {
            let record = rig.record(number).await;
            assert_eq!(usize::from(record.slashCount), evidence(&rig, number).await);
            slashed += usize::from(record.slashCount);
        }
        assert_eq!(slashed, found);
        for _ in 0..3 {
            rig.mine(1).await;
            other.mine(1).await;
        }
        rig.looked(&running).await;
        assert_eq!(rig.chain.pool().len(), 0);
        let actions = rig.db.recent_actions(20).await.unwrap();
        assert_eq!(actions.len(), found);
        assert!(actions.iter().all(|action| action.action.task == KeeperTask::SlashDoubleSign));
        running.stop().await;
        other_db.finish().await;
    }

    async fn a_node_that_lags_behind_is_no_evidence(test: TestDb) {
        let other_db = TestDb::sqlite().await;
        let (rig, other) = (Rig::start(test.db()), Rig::start(other_db.db()));
        let witness = Arc::new(Alone(other.client.clone()));
        let running = run(rig.make(Some(account(SLASHER)), rig.slashing()).with_witnesses(vec![witness]));
        share([&rig, &other], 3).await;
        rig.mine(6).await;
        rig.looked(&running).await;
        assert_eq!(running.metric("keeper_forked_nodes "), 0.0);
        assert_eq!(rig.db.recent_actions(5).await.unwrap(), []);
        running.stop().await;
        other_db.finish().await;
    }
}
