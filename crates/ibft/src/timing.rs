//! When things are due. Instants are milliseconds since the Unix epoch and always come in by argument.

use crate::config::IbftConfig;

/// When the proposer of round 0 may build on a parent.
pub const fn block_due_ms(parent_timestamp: u64, config: &IbftConfig) -> u64 {
    parent_timestamp.saturating_add(config.block_period_secs).saturating_mul(1000)
}

/// How long a round lasts: the base timeout, doubled each round.
pub fn round_timeout_ms(round: u32, config: &IbftConfig) -> u64 {
    let factor = 1u64.checked_shl(round).unwrap_or(u64::MAX);
    config.request_timeout_secs.saturating_mul(factor).saturating_mul(1000)
}

/// The header timestamp of a block built now: rounded half up in round 0, rounded down after a round change, and
/// in no case before the block period has passed.
pub fn proposal_timestamp(round: u32, now_ms: u64, parent_timestamp: u64, config: &IbftConfig) -> u64 {
    let now = if round == 0 { now_ms.saturating_add(500) / 1000 } else { now_ms / 1000 };
    now.max(parent_timestamp.saturating_add(config.block_period_secs))
}
