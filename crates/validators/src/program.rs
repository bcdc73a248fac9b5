//! The constants of the validator program, and the only place that has them.
//!
//! Some of them are also in the registry contract, which decides on chain; a test holds the two together.

use domain::Wei;

/// Least stake of a validator, in whole coins.
pub const MIN_STAKE_COIN: u64 = 100_000;
/// Highest commission, in basis points: 20%.
pub const MAX_COMMISSION_BPS: u16 = 2_000;
/// Least uptime of a validator, in percent of its proposer turns.
pub const MIN_UPTIME_PERCENT: u8 = 99;
/// How long a slash jails, in days.
pub const JAIL_DAYS: u8 = 7;
/// How long the technical review of an application may take, in days.
pub const REVIEW_DAYS: u8 = 7;
/// Validators of the last phase.
pub const TARGET_VALIDATORS: u8 = 21;

/// What a validator's machine needs.
pub const HARDWARE: Hardware = Hardware { cpu: 4, ram_gb: 16, ssd_gb: 500, mbps: 100 };
/// What runs on it.
pub const SOFTWARE: [&str; 2] = ["container runtime", "Besu 24.x"];
/// What misbehaviour costs.
pub const SLASHING: Slashing = Slashing { downtime_bps: 100, double_sign_bps: 500, removed_at: 3 };

/// The phases in which the validator set grows.
pub const PHASES: [Phase; 3] = [
    Phase { phase: 1, name: "Genesis Validators", max_validators: 5, status: "Aktif" },
    Phase {
        phase: 2,
        name: "Program Expansion (early community, +6)",
        max_validators: 11,
        status: "Upcoming",
    },
    Phase {
        phase: 3,
        name: "Community Validators (+10)",
        max_validators: TARGET_VALIDATORS,
        status: "Mainnet",
    },
];

/// How the slots of the last phase are spread.
pub const REGIONS: [Region; 8] = [
    Region { name: "Jakarta", code: "ID-JK", slots: 4 },
    Region { name: "West Java", code: "ID-JB", slots: 3 },
    Region { name: "Central Java", code: "ID-JT", slots: 2 },
    Region { name: "East Java", code: "ID-JI", slots: 3 },
    Region { name: "Sumatra", code: "ID-SU", slots: 2 },
    Region { name: "Kalimantan", code: "ID-KA", slots: 2 },
    Region { name: "Maluku and Papua", code: "ID-ML", slots: 2 },
    Region { name: "International", code: "GLOBAL", slots: 3 },
];

/// How an operator becomes a validator, in order.
pub const ONBOARDING: [OnboardingStep; 6] = [
    OnboardingStep {
        step: 1,
        title: "Submit an application",
        detail: "POST /api/v1/validators/applications, or the apply page.",
    },
    OnboardingStep { step: 2, title: "Technical review", detail: "Takes up to 7 days." },
    OnboardingStep {
        step: 3,
        title: "Stake at least 100000 coin on-chain",
        detail: "Call registerValidator on the registry.",
    },
    OnboardingStep {
        step: 4,
        title: "Deploy a validator node",
        detail: "Besu 24.x in a container runtime; setConsensusAddress when the node's key is not the operator's.",
    },
    OnboardingStep {
        step: 5,
        title: "The IBFT validator vote",
        detail: "It is proposed from a genesis validator node and passes with more than half of the validators.",
    },
    OnboardingStep {
        step: 6,
        title: "Go live on mainnet",
        detail: "The node proposes blocks in its turn and is ranked.",
    },
];

/// Least stake of a validator.
pub fn min_stake() -> Wei {
    Wei::from_coin(MIN_STAKE_COIN)
}

/// The region with this code.
pub fn region(code: &str) -> Option<&'static Region> {
    REGIONS.iter().find(|region| region.code == code)
}

/// A machine's size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hardware {
    /// Processors.
    pub cpu: u16,
    /// Memory in gigabytes.
    pub ram_gb: u16,
    /// Disk in gigabytes.
    pub ssd_gb: u16,
    /// Network in megabits per second.
    pub mbps: u16,
}

/// What misbehaviour costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slashing {
    /// Part of the stake lost for downtime, in basis points.
    pub downtime_bps: u16,
    /// Part of the stake lost for signing two blocks of one height and round, in basis points.
    pub double_sign_bps: u16,
    /// The slash that removes the validator.
    pub removed_at: u8,
}

/// A phase of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Phase {
    /// 1, 2 or 3.
    pub phase: u8,
    /// The name people read.
    pub name: &'static str,
    /// Slots in this phase.
    pub max_validators: u8,
    /// The program's own label, which is not the state on chain.
    pub status: &'static str,
}

/// A region and its slots.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// The name people read.
    pub name: &'static str,
    /// The code used in applications.
    pub code: &'static str,
    /// Slots of the 21.
    pub slots: u8,
}

/// A step on the way to a running validator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OnboardingStep {
    /// Place in the order, from 1.
    pub step: u8,
    /// What happens.
    pub title: &'static str,
    /// How.
    pub detail: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regional_slots_add_up_to_the_last_phase() {
        let slots: u32 = REGIONS.iter().map(|region| u32::from(region.slots)).sum();
        assert_eq!(slots, u32::from(TARGET_VALIDATORS));
    }

    #[test]
    fn region_codes_are_distinct_and_found() {
        for wanted in &REGIONS {
            assert_eq!(region(wanted.code), Some(wanted));
        }
        assert_eq!(region("id-jk"), None);
    }
}
