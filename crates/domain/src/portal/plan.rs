//! What the portal sells, and how a fee is split.

use std::{fmt, str::FromStr};

use alloy_primitives::U256;

use crate::Wei;

/// Price of saving the first webhook URL, in coin.
pub const WEBHOOK_FEE_COIN: u64 = 1;

/// Burned part of a fee, in percent.
const BURN_PERCENT: u64 = 30;

/// How long a key is good for, and its price.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Plan {
    /// 30 days.
    Monthly,
    /// 90 days.
    Quarterly,
    /// 365 days.
    Yearly,
}

/// The text names no plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown plan `{0}`")]
pub struct UnknownPlan(String);

impl Plan {
    /// Every plan, shortest first.
    pub const ALL: [Self; 3] = [Self::Monthly, Self::Quarterly, Self::Yearly];

    /// Its word.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Monthly => "monthly",
            Self::Quarterly => "quarterly",
            Self::Yearly => "yearly",
        }
    }

    /// Its name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Monthly => "Monthly",
            Self::Quarterly => "Three months",
            Self::Yearly => "Yearly",
        }
    }

    /// What it is called beside that.
    const fn alias(self) -> Option<&'static str> {
        match self {
            Self::Quarterly => Some("three-months"),
            Self::Monthly | Self::Yearly => None,
        }
    }

    /// Its duration.
    pub const fn days(self) -> u64 {
        match self {
            Self::Monthly => 30,
            Self::Quarterly => 90,
            Self::Yearly => 365,
        }
    }

    /// Its price.
    pub fn fee(self) -> Wei {
        Wei::from_coin(match self {
            Self::Monthly => 100,
            Self::Quarterly => 270,
            Self::Yearly => 900,
        })
    }
}

/// By its word or its name for people, whatever the case.
impl FromStr for Plan {
    type Err = UnknownPlan;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_named = |plan: &Self| {
            let mut names = [plan.name(), plan.title()].into_iter().chain(plan.alias());
            names.any(|name| name.eq_ignore_ascii_case(text))
        };
        Self::ALL.into_iter().find(is_named).ok_or_else(|| UnknownPlan(text.to_owned()))
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The two parts of a fee.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeeSplit {
    /// Destroyed.
    pub burned: Wei,
    /// Kept for operations; what cannot be divided is in here.
    pub held: Wei,
}

impl FeeSplit {
    /// The parts of a fee, as `PlatformFees` splits it.
    pub fn of(fee: Wei) -> Self {
        let hundred = U256::from(100);
        let (whole, rest) = fee.0.div_rem(hundred);
        let percent = U256::from(BURN_PERCENT);
        let burned = whole * percent + rest * percent / hundred;
        Self { burned: Wei(burned), held: Wei(fee.0 - burned) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_are_those_of_the_specification() {
        let table = Plan::ALL.map(|plan| (plan.fee().to_string(), plan.days()));
        assert_eq!(table, [("100".into(), 30), ("270".into(), 90), ("900".into(), 365)]);
        for plan in Plan::ALL {
            assert_eq!(plan.name().parse(), Ok(plan));
            assert_eq!(plan.title().parse(), Ok(plan));
            assert_eq!(plan.title().to_uppercase().parse(), Ok(plan));
        }
        assert_eq!("three-months".parse(), Ok(Plan::Quarterly));
        for text in ["", "weekly", "month", "three  months", " monthly"] {
            assert!(text.parse::<Plan>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_fee_is_split_without_losing_a_wei() {
        let split = FeeSplit::of(Wei::from_coin(270));
        assert_eq!((split.burned.to_string(), split.held.to_string()), ("81".into(), "189".into()));
        let odd = FeeSplit::of(Wei(U256::from(103)));
        assert_eq!((odd.burned.0, odd.held.0), (U256::from(30), U256::from(73)));
        let most = FeeSplit::of(Wei(U256::MAX));
        assert_eq!(most.burned.0 + most.held.0, U256::MAX);
    }
}
