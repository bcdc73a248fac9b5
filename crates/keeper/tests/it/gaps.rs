//! Nonces that are missing below what waits in a Besu's pool.

use alloy_consensus::TxEip1559;
use alloy_primitives::{Address, TxKind};
use store::engine_tests;
use testkit::{BesuSettings, TestNode};

use crate::rig::{Rig, STRANGER, account, run};

const ACTIVE: u8 = 1;

engine_tests! {
    async fn what_waits_above_a_gap_does_not_keep_a_jail_shut(test: TestDb) {
        let rig = Rig::start(test.db());
        let besu = TestNode::on_besu(&rig.chain, &rig.control, BesuSettings::v24_12_2());
        rig.slash_by_hand(3).await;
        let until = rig.record(3).await.jailedUntil;
        // Of the keeper's own key, with 0 and 1 missing: Besu's pending nonce is 3.
        let stuck = TxEip1559 { nonce: 2, to: TxKind::Call(Address::repeat_byte(1)), gas_limit: 21_000, ..TxEip1559::default() };
        rig.submit_as_is(&account(STRANGER), stuck);
        rig.mine_at(until).await;
        besu.catch_up().await;
        assert_eq!(besu.client().pending_nonce(account(STRANGER).address()).await.unwrap(), 3);
        let running = run(rig.make_on(besu.client(), Some(account(STRANGER)), rig.settings()));
        rig.mine_until(async || rig.record(3).await.status == ACTIVE).await;
        running.stop().await;
    }
}
