//! How a score is made: weights, windows and penalties. All of it is published with the ranking.

use alloy_primitives::U256;

/// Seconds of a day.
pub(super) const DAY_SECS: u64 = 86_400;

/// Most points of each component; together 100.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weights {
    /// Proposer turns kept.
    pub uptime: u8,
    /// Stake, on a logarithmic scale.
    pub stake: u8,
    /// Seals seen.
    pub seals: u8,
    /// Time since registration.
    pub tenure: u8,
    /// Low commission.
    pub commission: u8,
}

/// A window of time and its part of the uptime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// The name in answers.
    pub name: &'static str,
    /// Its length.
    pub secs: u64,
    /// Its part of the blended uptime, in percent.
    pub percent: u8,
}

/// What a slash for downtime takes from the score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Penalty {
    /// Points at first.
    pub points: u8,
    /// Days after which it has halved.
    pub half_life_days: u16,
    /// Days after which it is forgotten.
    pub forgotten_days: u16,
}

/// The whole method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    /// Most points of each component.
    pub weights: Weights,
    /// The windows that uptime is blended from.
    pub windows: [Window; 3],
    /// Blended uptime, in percent, at which the uptime component is zero.
    pub uptime_floor_percent: u8,
    /// Part of the expected seals, in percent, that earns all points for seals.
    pub seals_full_percent: u8,
    /// Days of membership that earn all points for tenure.
    pub tenure_full_days: u16,
    /// Commission, in basis points, at which the commission component is zero.
    pub commission_zero_bps: u16,
    /// What a slash for downtime takes.
    pub downtime: Penalty,
    /// The largest stake of the ranking, which earns all points for stake.
    pub largest_stake: U256,
}

impl Method {
    /// The windows of the program.
    pub const WINDOWS: [Window; 3] = [
        Window { name: "24h", secs: DAY_SECS, percent: 50 },
        Window { name: "7d", secs: 7 * DAY_SECS, percent: 30 },
        Window { name: "30d", secs: 30 * DAY_SECS, percent: 20 },
    ];

    /// The program's method, for a ranking with this largest stake.
    pub const fn new(largest_stake: U256) -> Self {
        Self {
            weights: Weights { uptime: 45, stake: 20, seals: 10, tenure: 10, commission: 15 },
            windows: Self::WINDOWS,
            uptime_floor_percent: 95,
            seals_full_percent: 50,
            tenure_full_days: 180,
            commission_zero_bps: crate::program::MAX_COMMISSION_BPS,
            downtime: Penalty { points: 10, half_life_days: 30, forgotten_days: 90 },
            largest_stake,
        }
    }
}
