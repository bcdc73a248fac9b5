//! Jails that end.

use alloy_primitives::Address;
use contracts::bindings::PlatformValidatorRegistry as Registry;
use store::{engine_tests, keeper::ActionState};

use crate::rig::{JAIL, Rig, STRANGER, account, operator, poor, run};

const ACTIVE: u8 = 1;
const JAILED: u8 = 2;

/// The block in which an operator was unjailed, if it was.
async fn unjailed_in(rig: &Rig) -> Option<u64> {
    let actions = rig.db.recent_actions(1).await.unwrap();
    actions.first().filter(|action| action.state == ActionState::Done)?.block_number
}

engine_tests! {
    async fn a_jail_is_opened_within_two_blocks_of_its_end(test: TestDb) {
        let rig = Rig::start(test.db());
        rig.slash_by_hand(3).await;
        let until = rig.record(3).await.jailedUntil;
        let running = rig.keep(Some(account(STRANGER)), rig.settings());
        rig.mine_at(until - 2).await;
        rig.looked(&running).await;
        assert_eq!((rig.chain.pool().len(), rig.record(3).await.status), (0, JAILED), "a block too early");

        rig.mine_at(until).await;
        let end = rig.height();
        rig.pooled(1).await;
        rig.mine(1).await;
        let record = rig.record(3).await;
        assert_eq!((record.status, record.jailedUntil), (ACTIVE, 0));
        rig.looked(&running).await;
        assert_eq!(unjailed_in(&rig).await, Some(end + 1));
        rig.mine(3).await;
        rig.looked(&running).await;
        assert_eq!(rig.chain.pool().len(), 0, "nothing is sent twice");
        assert_eq!(running.metric("keeper_actions_total{kind=\"unjail\",result=\"done\"} "), 1.0);
        running.stop().await;
    }

    async fn jails_that_end_together_are_opened_together(test: TestDb) {
        let rig = Rig::start(test.db());
        for number in [1, 2, 4] {
            rig.slash_by_hand(number).await;
        }
        let running = rig.keep(Some(account(STRANGER)), rig.settings());
        rig.mine_at(rig.record(4).await.jailedUntil).await;
        rig.pooled(3).await;
        rig.mine(1).await;
        for number in [1, 2, 4] {
            assert_eq!(rig.record(number).await.status, ACTIVE);
        }
        running.stop().await;
    }

    async fn somebody_else_may_be_faster(test: TestDb) {
        let rig = Rig::start(test.db());
        rig.slash_by_hand(3).await;
        let until = rig.record(3).await.jailedUntil;
        rig.mine_at(until).await;
        rig.registry(&account(5), &Registry::unjailValidatorCall { operator: operator(3) }).await;
        let running = rig.keep(Some(account(STRANGER)), rig.settings());
        rig.mine(2).await;
        rig.looked(&running).await;
        assert_eq!(rig.db.recent_actions(5).await.unwrap(), []);
        running.stop().await;
    }

    async fn the_next_jail_of_the_same_validator_is_another(test: TestDb) {
        let rig = Rig::start(test.db());
        let running = rig.keep(Some(account(STRANGER)), rig.settings());
        for round in 1..=2 {
            rig.slash_by_hand(3).await;
            rig.mine_at(rig.record(3).await.jailedUntil + JAIL).await;
            rig.pooled(1).await;
            rig.mine(1).await;
            assert_eq!(rig.record(3).await.status, ACTIVE);
            rig.looked(&running).await;
            assert_eq!(rig.db.recent_actions(5).await.unwrap().len(), round);
        }
        running.stop().await;
    }

    async fn without_a_key_or_coin_a_jail_stays_shut_until_there_is_some(test: TestDb) {
        let rig = Rig::start(test.db());
        rig.slash_by_hand(3).await;
        let until = rig.record(3).await.jailedUntil;
        let keyless = rig.keep(None, rig.settings());
        rig.mine_at(until).await;
        rig.looked(&keyless).await;
        assert_eq!(rig.db.recent_actions(5).await.unwrap(), []);
        keyless.stop().await;

        let running = run(rig.make(Some(poor()), rig.settings()));
        rig.mine(1).await;
        rig.looked(&running).await;
        assert_eq!(rig.chain.pool().len(), 0);
        assert!(running.metric("keeper_actions_total{kind=\"unjail\",result=\"refused\"} ") >= 1.0);
        fund(&rig, poor().address()).await;
        rig.pooled(1).await;
        rig.mine(1).await;
        assert_eq!(rig.record(3).await.status, ACTIVE);
        running.stop().await;
    }
}

async fn fund(rig: &Rig, account: Address) {
    use alloy_consensus::TxEip1559;
    use alloy_primitives::TxKind;
    let value = domain::Wei::from_coin(1).0;
    let tx = TxEip1559 { to: TxKind::Call(account), value, gas_limit: 21_000, ..TxEip1559::default() };
    rig.submit(&crate::rig::account(4), tx);
    rig.mine(1).await;
}
