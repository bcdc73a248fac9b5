//! What an operator decides about the faucet, with the specification's values.

use std::time::Duration;

use domain::Wei;

/// Blocks after which a payment that is in none of them counts as stuck.
pub const STUCK_PAYMENT_BLOCKS: u64 = 15;

/// How much the faucet pays, how often, and how it goes about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaucetSettings {
    /// What a claim pays.
    pub amount: Wei,
    /// How long a claim counts.
    pub window: Duration,
    /// Claims that count for one network address.
    pub visitor_claims: u32,
    /// Most that all claims that count may pay together.
    pub daily_cap: Wei,
    /// What the payer keeps for gas.
    pub gas_reserve: Wei,
    /// With fewer claims left than this the funds are low.
    pub low_claims: u64,
    /// Transactions that nodes are given beyond the last one mined. Besu keeps 200 of an account.
    pub in_flight: u64,
    /// Claims that may wait to be paid.
    pub open_claims: u32,
    /// How long a claimant waits for its transaction to be signed.
    pub signing_limit: Duration,
    /// How long a sender that went silent is waited for before another takes over.
    pub lease: Duration,
}

impl Default for FaucetSettings {
    fn default() -> Self {
        Self {
            amount: Wei::from_coin(500),
            window: Duration::from_secs(24 * 3600),
            visitor_claims: 3,
            daily_cap: Wei::from_coin(100_000),
            gas_reserve: Wei::from_coin(1),
            low_claims: 100,
            in_flight: 200,
            open_claims: 2_000,
            signing_limit: Duration::from_secs(5),
            lease: Duration::from_secs(10),
        }
    }
}

impl FaucetSettings {
    /// The window in milliseconds.
    pub(crate) fn window_millis(&self) -> u64 {
        millis(self.window)
    }
}

/// A span in milliseconds.
pub(crate) fn millis(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
