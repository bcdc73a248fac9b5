//! Validators that are down: reported once, and slashed once where the keeper may.

use store::{
    engine_tests,
    keeper::{ActionState, KeeperTask},
};

use crate::rig::{Rig, SLASHER, STRANGER, account};

const ACTIVE: u8 = 1;
const JAILED: u8 = 2;
/// Enough for thirty blocks without a seal and three turns of one of five.
const DOWN: u64 = 36;

engine_tests! {
    async fn a_stopped_validator_is_reported_once_and_not_slashed(test: TestDb) {
        let rig = Rig::start(test.db());
        let running = rig.keep(Some(account(SLASHER)), rig.settings());
        rig.mine(40).await;
        rig.bring_down(&running, 3, 20).await;
        assert_eq!(rig.downtime_reports(3).await, 0, "thirty blocks are not over");
        for more in [16, 5] {
            rig.mine(more).await;
            rig.looked(&running).await;
            assert_eq!(rig.downtime_reports(3).await, 1);
        }
        assert_eq!(running.metric("keeper_reports_total{kind=\"downtime\"} "), 1.0);
        assert_eq!(running.metric("keeper_validators_down "), 1.0);
        assert_eq!((rig.record(3).await.status, rig.db.recent_actions(5).await.unwrap().len()), (ACTIVE, 0));
        for other in [1, 2, 4, 5] {
            assert_eq!(rig.downtime_reports(other).await, 0);
        }

        rig.control.start_validator("V3").await.expect("started");
        rig.mine(12).await;
        rig.looked(&running).await;
        assert_eq!(running.metric("keeper_validators_down "), 0.0);
        running.stop().await;
    }

    async fn with_auto_slash_it_is_slashed_once(test: TestDb) {
        let rig = Rig::start(test.db());
        let running = rig.keep(Some(account(SLASHER)), rig.slashing());
        let rival = rig.keep(Some(account(SLASHER)), rig.slashing());
        rig.mine(6).await;
        rig.control.stop_validator("V3").await.expect("stopped");
        rig.mine_until_slashed(3).await;
        let record = rig.record(3).await;
        assert_eq!((record.status, record.slashCount), (JAILED, 1));
        // Down all through the jail and after it: it is the same downtime.
        let until = record.jailedUntil;
        rig.mine(10).await;
        rig.mine_at(until).await;
        rig.pooled(1).await;
        rig.mine(1).await;
        assert_eq!(rig.record(3).await.status, ACTIVE, "the keeper let it out");
        for _ in 0..DOWN {
            rig.mine(1).await;
        }
        rig.indexed().await;
        rig.mine(1).await;
        let record = rig.record(3).await;
        assert_eq!((record.status, record.slashCount, rig.chain.pool().len()), (ACTIVE, 1, 0));
        let actions = rig.db.recent_actions(5).await.unwrap();
        let slashes: Vec<_> =
            actions.iter().filter(|action| action.action.task == KeeperTask::SlashDowntime).collect();
        assert_eq!((slashes.len(), slashes[0].state, slashes[0].attempts), (1, ActionState::Done, 1));
        running.stop().await;
        rival.stop().await;
    }

    async fn a_slash_by_hand_is_enough(test: TestDb) {
        let rig = Rig::start(test.db());
        let reporting = rig.keep(Some(account(SLASHER)), rig.settings());
        rig.mine(6).await;
        rig.bring_down(&reporting, 3, DOWN).await;
        assert_eq!(rig.downtime_reports(3).await, 1);
        reporting.stop().await;
        rig.slash_by_hand(3).await;
        let until = rig.record(3).await.jailedUntil;
        let running = rig.keep(Some(account(SLASHER)), rig.slashing());
        rig.mine_at(until).await;
        rig.pooled(1).await;
        rig.mine(3).await;
        rig.looked(&running).await;
        let record = rig.record(3).await;
        assert_eq!((record.status, record.slashCount, rig.chain.pool().len()), (ACTIVE, 1, 0));
        running.stop().await;
    }

    async fn without_the_role_it_reports_only(test: TestDb) {
        let rig = Rig::start(test.db());
        let running = rig.keep(Some(account(STRANGER)), rig.slashing());
        rig.mine(6).await;
        rig.bring_down(&running, 3, DOWN).await;
        assert_eq!(rig.downtime_reports(3).await, 1);
        assert_eq!((rig.record(3).await.slashCount, rig.db.recent_actions(5).await.unwrap().len()), (0, 0));
        running.stop().await;
    }

    async fn a_chain_that_began_a_moment_ago_has_nobody_down(test: TestDb) {
        let rig = Rig::start(test.db());
        let running = rig.keep(Some(account(SLASHER)), rig.slashing());
        rig.bring_down(&running, 2, 20).await;
        assert_eq!((rig.downtime_reports(2).await, rig.chain.pool().len()), (0, 0));
        running.stop().await;
    }
}
