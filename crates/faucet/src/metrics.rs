//! What is counted for operators. Labels are fixed: nothing of a claimant's becomes one.

use std::sync::atomic::AtomicU64;

use domain::Wei;
use parking_lot::Mutex;
use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

use crate::{Claim, ClaimRefusal, FaucetHealth};

/// Wei of a coin.
const COIN: f64 = 1e18;
/// What a claim may come to.
const OUTCOMES: [&str; 11] = [
    "taken",
    "reserved_address",
    "contract",
    "wallet_cooldown",
    "ip_limit",
    "daily_cap",
    "empty",
    "crowded",
    "not_signed",
    "chain",
    "database",
];

type Labels = [(&'static str, &'static str); 1];

/// All metrics.
pub(crate) struct Metrics {
    registry: Mutex<Registry>,
    claims: Family<Labels, Counter>,
    balance: Gauge<f64, AtomicU64>,
    claims_left: Gauge,
    open_claims: Gauge,
    waited_blocks: Gauge,
    /// Whether this process has the lease.
    pub(crate) pays: Gauge,
}

impl Metrics {
    pub(crate) fn new() -> Self {
        let metrics = Self {
            registry: Mutex::new(Registry::with_prefix("faucet")),
            claims: Family::default(),
            balance: Gauge::default(),
            claims_left: Gauge::default(),
            open_claims: Gauge::default(),
            waited_blocks: Gauge::default(),
            pays: Gauge::default(),
        };
        for outcome in OUTCOMES {
            drop(metrics.claims.get_or_create(&[("outcome", outcome)]));
        }
        metrics.register();
        metrics
    }

    pub(crate) fn registry(&self) -> &Mutex<Registry> {
        &self.registry
    }

    fn register(&self) {
        let mut registry = self.registry.lock();
        registry.register("claims", "Claims by what they came to", self.claims.clone());
        registry.register(
            "balance_coin",
            "What the faucet has; -1 while that is not known",
            self.balance.clone(),
        );
        registry.register(
            "claims_left",
            "Claims that can still be paid today; -1 while that is not known",
            self.claims_left.clone(),
        );
        registry.register(
            "open_claims",
            "Claims that wait to be paid; -1 while that is not known",
            self.open_claims.clone(),
        );
        registry.register(
            "payment_waited_blocks",
            "Blocks that the oldest payment has waited for one that has it",
            self.waited_blocks.clone(),
        );
        registry.register("pays", "Whether this process is the one that pays", self.pays.clone());
    }

    pub(crate) fn claimed(&self, result: &Result<Claim, ClaimRefusal>) {
        self.claims.get_or_create(&[("outcome", outcome(result))]).inc();
    }

    /// Takes note of how long the oldest payment has waited.
    pub(crate) fn waited(&self, blocks: u64) {
        self.waited_blocks.set(i64::try_from(blocks).unwrap_or(i64::MAX));
    }

    /// Takes note of how the faucet is doing.
    pub(crate) fn examined(&self, health: &FaucetHealth) {
        let number = |known: Option<u64>| known.map_or(-1, |known| i64::try_from(known).unwrap_or(i64::MAX));
        self.balance.set(health.balance.map_or(-1.0, |Wei(wei)| f64::from(wei) / COIN));
        self.claims_left.set(number(health.claims_left));
        self.open_claims.set(number(health.open_claims));
    }
}

fn outcome(result: &Result<Claim, ClaimRefusal>) -> &'static str {
    match result {
        Ok(_) => "taken",
        Err(ClaimRefusal::ReservedAddress) => "reserved_address",
        Err(ClaimRefusal::Contract) => "contract",
        Err(ClaimRefusal::WalletCooldown { .. }) => "wallet_cooldown",
        Err(ClaimRefusal::VisitorLimit { .. }) => "ip_limit",
        Err(ClaimRefusal::DailyCap { .. }) => "daily_cap",
        Err(ClaimRefusal::Empty) => "empty",
        Err(ClaimRefusal::Crowded) => "crowded",
        Err(ClaimRefusal::NotSigned) => "not_signed",
        Err(ClaimRefusal::Chain(_)) => "chain",
        Err(ClaimRefusal::Store(_)) => "database",
    }
}

#[cfg(test)]
mod tests {
    use alloy_primitives::U256;
    use prometheus_client::encoding::text::encode;

    use super::*;
    use crate::Funds;

    #[test]
    fn every_outcome_is_there_from_the_beginning_and_what_is_unknown_says_so() {
        let metrics = Metrics::new();
        metrics.claimed(&Err(ClaimRefusal::Empty));
        let health = FaucetHealth {
            funds: Funds::Unknown,
            balance: Some(Wei(U256::from(1_500_000_000_000_000_000_u64))),
            claims_left: None,
            open_claims: Some(2),
        };
        metrics.examined(&health);
        let mut text = String::new();
        encode(&mut text, &metrics.registry().lock()).unwrap();
        for line in [
            "faucet_claims_total{outcome=\"empty\"} 1",
            "faucet_claims_total{outcome=\"taken\"} 0",
            "faucet_balance_coin 1.5",
            "faucet_claims_left -1",
            "faucet_open_claims 2",
        ] {
            assert!(text.contains(line), "{line} is missing from\n{text}");
        }
    }
}
