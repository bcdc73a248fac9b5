//! Accounts that must not run dry: said once when one is low, and once when it is not any more.

use std::collections::HashSet;

use chain::{At, ChainError, Head};
use domain::Wei;

use crate::keeper::Keeper;

impl Keeper {
    pub(crate) async fn watch_balances(
        &self,
        low: &mut HashSet<&'static str>,
        head: &Head,
    ) -> Result<(), ChainError> {
        for alarm in &self.settings.alarms {
            let balance = Wei(self.chain.account(alarm.address, At::Number(head.number())).await?.balance);
            let is_low = balance < alarm.least;
            self.metrics.balance(alarm.name, balance, is_low);
            let (account, address, least) = (alarm.name, alarm.address, alarm.least);
            if is_low && low.insert(account) {
                tracing::warn!(account, %address, %balance, %least, "an account runs dry; send it coin");
            } else if !is_low && low.remove(account) {
                tracing::info!(account, %address, %balance, "an account has enough coin again");
            }
        }
        Ok(())
    }
}
