//! Accounts that run dry.

use chainnet_keeper::{BalanceAlarm, KeeperSettings};
use domain::Wei;
use store::engine_tests;

use crate::rig::{Rig, account, poor};

engine_tests! {
    async fn balances_are_shown_and_low_ones_marked(test: TestDb) {
        let rig = Rig::start(test.db());
        let alarm = |name, address| BalanceAlarm { name, address, least: Wei::from_coin(10) };
        let alarms = vec![alarm("keeper", poor().address()), alarm("faucet", account(9).address())];
        let running = rig.keep(None, KeeperSettings { alarms, ..rig.settings() });
        rig.mine(1).await;
        rig.looked(&running).await;
        assert_eq!(running.metric("keeper_balance_low{account=\"keeper\"} "), 1.0);
        assert_eq!(running.metric("keeper_balance_low{account=\"faucet\"} "), 0.0);
        assert_eq!(running.metric("keeper_balance_coin{account=\"faucet\"} "), 1_000_000.0);
        assert_eq!(running.metric("keeper_lease_held "), 1.0);
        running.stop().await;
    }
}
