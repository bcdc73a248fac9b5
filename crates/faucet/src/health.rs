//! How the faucet is doing.

use alloy_primitives::U256;
use chain::At;
use domain::Wei;

use crate::Faucet;

/// How the faucet is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaucetHealth {
    /// Whether it can pay.
    pub funds: Funds,
    /// What it has; none while the chain cannot be read.
    pub balance: Option<Wei>,
    /// Claims that it can still pay today; none while that is not known.
    pub claims_left: Option<u64>,
    /// Claims that wait to be paid; none while the database does not answer.
    pub open_claims: Option<u64>,
}

/// Whether the faucet can pay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Funds {
    /// It can.
    Ok,
    /// It can, but not for long: it must be topped up.
    Low,
    /// It cannot: it is out of coin, or the daily cap is reached.
    Empty,
    /// The chain or the database does not answer.
    Unknown,
}

impl Funds {
    /// The name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Low => "low",
            Self::Empty => "empty",
            Self::Unknown => "unknown",
        }
    }
}

impl Faucet {
    /// Whether claims can be written down.
    pub async fn is_writable(&self, now: u64) -> bool {
        self.shared.db.is_writable(now).await
    }

    /// How the faucet is doing.
    pub async fn health(&self, now: u64) -> FaucetHealth {
        let settings = self.settings();
        let head = self.shared.chain.heads().borrow().clone().filter(|_| self.shared.chain.is_reachable());
        let number = head.map(|head| head.number());
        let balance = match number {
            Some(number) => self.shared.chain.account(self.address(), At::Number(number)).await.ok(),
            None => None,
        };
        let balance = balance.map(|account| account.balance);
        let since = now.saturating_sub(settings.window_millis());
        let load = self.shared.db.faucet_load(since, number.unwrap_or(0)).await.ok();
        let claims_left = balance.zip(load).map(|(balance, load)| {
            let kept = settings.gas_reserve.0.saturating_add(load.owed.0);
            let by_cap = settings.daily_cap.0.saturating_sub(load.outflow.0);
            (claims(balance.saturating_sub(kept), settings.amount), claims(by_cap, settings.amount))
        });
        let health = FaucetHealth {
            funds: match claims_left {
                None => Funds::Unknown,
                Some((0, _) | (_, 0)) => Funds::Empty,
                Some((by_funds, _)) if by_funds < settings.low_claims => Funds::Low,
                Some(_) => Funds::Ok,
            },
            balance: balance.map(Wei),
            claims_left: claims_left.map(|(by_funds, by_cap)| by_funds.min(by_cap)),
            open_claims: load.map(|load| load.open),
        };
        self.shared.metrics.examined(&health);
        health
    }
}

/// How many claims an amount pays.
fn claims(amount: U256, each: Wei) -> u64 {
    amount.checked_div(each.0).map_or(u64::MAX, |count| count.saturating_to())
}
