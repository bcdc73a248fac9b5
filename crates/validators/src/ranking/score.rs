//! The score of one validator, from numbers that are published with it.

use alloy_primitives::U256;

use crate::{board::Turns, program};

use super::{
    fixed::{Fraction, Points, log2_of_one_plus},
    method::Method,
};

/// The numbers that a score is made from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Basis {
    /// Turns and seals in the windows of the method, in their order.
    pub windows: [Turns; 3],
    /// Seals in the first window that were to be expected: a quorum's share of the blocks, rounded up.
    pub expected_seals: u64,
    /// Stake in wei.
    pub stake: U256,
    /// Whole days since registration; `None` when nobody registered.
    pub tenure_days: Option<u64>,
    /// Commission in basis points; `None` when nobody registered.
    pub commission_bps: Option<u16>,
    /// Whole days since each slash for downtime that still counts.
    pub downtime_slash_days: Vec<u64>,
    /// Whether it was ever slashed for signing two blocks, which leaves no score.
    pub has_double_signed: bool,
}

/// How far each component is fulfilled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fulfilment {
    /// Proposer turns kept.
    pub uptime: Fraction,
    /// Stake, on a logarithmic scale.
    pub stake: Fraction,
    /// Seals seen.
    pub seals: Fraction,
    /// Time since registration.
    pub tenure: Fraction,
    /// Low commission.
    pub commission: Fraction,
}

/// The points of each component. The score is their sum less the penalties, exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Components {
    /// Points for proposer turns kept.
    pub uptime: Points,
    /// Points for stake.
    pub stake: Points,
    /// Points for seals.
    pub seals: Points,
    /// Points for time since registration.
    pub tenure: Points,
    /// Points for low commission.
    pub commission: Points,
}

impl Components {
    /// The sum of all components.
    pub const fn sum(&self) -> Points {
        self.uptime.plus(self.stake).plus(self.seals).plus(self.tenure).plus(self.commission)
    }
}

/// A score and how it came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Score {
    /// The score, 0 to 100.
    pub total: Points,
    /// How far each component is fulfilled.
    pub fulfilment: Fulfilment,
    /// The points of each component.
    pub components: Components,
    /// What slashes for downtime take.
    pub penalty: Points,
}

impl Basis {
    /// The score by this method.
    pub fn score(&self, method: &Method) -> Score {
        let fulfilment = self.fulfilment(method);
        let weights = method.weights;
        let components = Components {
            uptime: Points::part_of(weights.uptime, fulfilment.uptime),
            stake: Points::part_of(weights.stake, fulfilment.stake),
            seals: Points::part_of(weights.seals, fulfilment.seals),
            tenure: Points::part_of(weights.tenure, fulfilment.tenure),
            commission: Points::part_of(weights.commission, fulfilment.commission),
        };
        let penalty = self.penalty(method);
        let total = if self.has_double_signed { Points::default() } else { components.sum().minus(penalty) };
        Score { total, fulfilment, components, penalty }
    }

    fn fulfilment(&self, method: &Method) -> Fulfilment {
        let tenure = self.tenure_days.unwrap_or(0);
        let kept =
            self.commission_bps.map_or(0, |commission| method.commission_zero_bps.saturating_sub(commission));
        Fulfilment {
            uptime: self.uptime(method),
            stake: stake_fraction(self.stake, method.largest_stake),
            seals: self.seals(method),
            tenure: Fraction::of(u128::from(tenure), u128::from(method.tenure_full_days)),
            commission: Fraction::of(u128::from(kept), u128::from(method.commission_zero_bps)),
        }
    }

    /// The blended uptime, rescaled so that the floor is nothing. A window without a turn counts as missed.
    fn uptime(&self, method: &Method) -> Fraction {
        let blended_ppm: u64 = self
            .windows
            .iter()
            .zip(&method.windows)
            .map(|(turns, window)| {
                u64::from(turns.uptime_ppm().unwrap_or(0)) * u64::from(window.percent) / 100
            })
            .sum();
        let floor_ppm = u64::from(method.uptime_floor_percent) * 10_000;
        let above = blended_ppm.saturating_sub(floor_ppm);
        Fraction::of(u128::from(above), u128::from(1_000_000u64.saturating_sub(floor_ppm)))
    }

    /// Seals seen against those expected. Which seals a node stores is partly chance, so that everybody with a fair part of
    /// them has all points, and the views of two nodes rank healthy validators alike.
    fn seals(&self, method: &Method) -> Fraction {
        let [day, _, _] = &self.windows;
        let wanted = u128::from(self.expected_seals) * u128::from(method.seals_full_percent);
        Fraction::of(u128::from(day.sealed) * 100, wanted)
    }

    fn penalty(&self, method: &Method) -> Points {
        let rule = method.downtime;
        let points = self.downtime_slash_days.iter().filter(|&&days| days < u64::from(rule.forgotten_days));
        let hundredths = points.map(|days| {
            let halvings = days.checked_div(u64::from(rule.half_life_days)).unwrap_or(0);
            (u32::from(rule.points) * 100) >> halvings.min(31)
        });
        Points::from_hundredths(hundredths.fold(0, u32::saturating_add))
    }
}

/// The stake relative to the largest, on a logarithmic scale in units of the least stake.
fn stake_fraction(stake: U256, largest: U256) -> Fraction {
    let unit = program::min_stake().0;
    let log = |stake| u128::from(log2_of_one_plus(stake, unit));
    Fraction::of(log(stake), log(largest))
}
