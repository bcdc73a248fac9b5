//! The validator program: its constants, and how far the expansion has come.

use serde::Serialize;
use utoipa::ToSchema;
use validators::{
    expansion::{ExpansionView as Expansion, RegionSlots, VoteProgress},
    program::{self, Phase},
};

use super::{AddressText, CoinText, Long, WeiText, block::VoteKindView, validator::percent};

/// The constants of the validator program.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ProgramView {
    /// Least stake, in coin.
    #[schema(example = "100000")]
    min_stake: CoinText,
    /// The same in wei.
    min_stake_wei: WeiText,
    /// Highest commission, in percent.
    #[schema(example = 20.0)]
    max_commission: f64,
    /// Least uptime, in percent.
    #[schema(example = 99)]
    min_uptime: u8,
    /// What a validator's machine needs.
    hardware: HardwareView,
    /// What runs on it.
    #[schema(example = json!(["container runtime", "Besu 24.x"]))]
    software: Vec<&'static str>,
    /// How long a slash jails, in days.
    #[schema(example = 7)]
    jail_days: u8,
    /// How long the technical review may take, in days.
    #[schema(example = 7)]
    review_days: u8,
    /// What misbehaviour costs.
    slashing: SlashingView,
    /// The phases in which the validator set grows.
    phases: Vec<PhaseView>,
    /// How the slots of the last phase are spread.
    regions: Vec<RegionView>,
    /// How an operator becomes a validator, in order.
    onboarding: Vec<OnboardingView>,
}

/// What a validator's machine needs.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HardwareView {
    /// Processors.
    #[schema(example = 4)]
    cpu: u16,
    /// Memory in gigabytes.
    #[schema(example = 16)]
    ram_gb: u16,
    /// Disk in gigabytes.
    #[schema(example = 500)]
    ssd_gb: u16,
    /// Network in megabits per second.
    #[schema(example = 100)]
    mbps: u16,
}

/// What misbehaviour costs.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SlashingView {
    /// Part of the stake lost for downtime, in percent.
    #[schema(example = 1.0)]
    downtime_percent: f64,
    /// Part of the stake lost for a double signature, in percent.
    #[schema(example = 5.0)]
    double_sign_percent: f64,
    /// The slash that removes the validator.
    #[schema(example = 3)]
    removed_at_slash: u8,
}

/// A phase of the program.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PhaseView {
    /// 1, 2 or 3.
    #[schema(example = 1)]
    phase: u8,
    /// The name people read.
    #[schema(example = "Genesis Validators")]
    name: &'static str,
    /// Slots in this phase.
    #[schema(example = 5)]
    max_validators: u8,
    /// The program's own label, which is not the state on chain.
    #[schema(example = "Aktif")]
    status: &'static str,
}

/// A region and its slots.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RegionView {
    /// The name people read.
    #[schema(example = "Jakarta")]
    region: &'static str,
    /// The code used in applications.
    #[schema(example = "ID-JK")]
    code: &'static str,
    /// Slots of the 21.
    #[schema(example = 4)]
    slots: u8,
}

/// A step on the way to a running validator.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct OnboardingView {
    /// Place in the order, from 1.
    #[schema(example = 1)]
    step: u8,
    /// What happens.
    #[schema(example = "Submit an application")]
    title: &'static str,
    /// How.
    #[schema(example = "POST /api/v1/validators/applications, or the apply page.")]
    detail: &'static str,
}

impl ProgramView {
    pub(crate) fn new() -> Self {
        let hardware = program::HARDWARE;
        let slashing = program::SLASHING;
        let regions = program::REGIONS.iter();
        let steps = program::ONBOARDING.iter();
        Self {
            min_stake: CoinText(program::min_stake()),
            min_stake_wei: WeiText(program::min_stake().0),
            max_commission: percent(program::MAX_COMMISSION_BPS),
            min_uptime: program::MIN_UPTIME_PERCENT,
            hardware: HardwareView {
                cpu: hardware.cpu,
                ram_gb: hardware.ram_gb,
                ssd_gb: hardware.ssd_gb,
                mbps: hardware.mbps,
            },
            software: program::SOFTWARE.to_vec(),
            jail_days: program::JAIL_DAYS,
            review_days: program::REVIEW_DAYS,
            slashing: SlashingView {
                downtime_percent: percent(slashing.downtime_bps),
                double_sign_percent: percent(slashing.double_sign_bps),
                removed_at_slash: slashing.removed_at,
            },
            phases: program::PHASES.iter().map(PhaseView::from).collect(),
            regions: regions.map(|r| RegionView { region: r.name, code: r.code, slots: r.slots }).collect(),
            onboarding: steps
                .map(|s| OnboardingView { step: s.step, title: s.title, detail: s.detail })
                .collect(),
        }
    }
}

impl From<&Phase> for PhaseView {
    fn from(phase: &Phase) -> Self {
        let Phase { phase, name, max_validators, status } = *phase;
        Self { phase, name, max_validators, status }
    }
}

/// The expansion of the validator set: what the chain says, what the program plans, what is voted on.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ExpansionView {
    /// 1, 2 or 3.
    #[schema(example = 1)]
    phase: u8,
    /// Members: active and jailed.
    #[schema(example = 5)]
    current: Long,
    /// Slots now.
    #[schema(example = 5)]
    max: Long,
    /// Slots of the last phase.
    #[schema(example = 21)]
    target: Long,
    /// Whether anybody may register.
    community_open: bool,
    /// The same, by the registry's name.
    community_registration_open: bool,
    /// Slots that are free.
    #[schema(example = 0)]
    open_slots: Long,
    /// The phases of the program.
    phases: Vec<PhaseView>,
    /// The regions, with the slots that are taken as far as applications tell.
    regions: Vec<TakenRegionView>,
    /// Members whose region nobody has told.
    #[schema(example = 5)]
    members_without_region: u32,
    /// Votes that have not changed the validator set yet.
    votes: Vec<PendingVoteView>,
    /// Nodes in the validator set.
    #[schema(example = 5)]
    validator_set_size: u32,
    /// Blocks until pending votes are forgotten.
    #[schema(example = 28976)]
    blocks_left: Long,
    /// The block that all of it is of.
    #[schema(example = 1024)]
    as_of_block: Long,
}

/// A region, its slots, and how many are taken.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TakenRegionView {
    /// The name people read.
    #[schema(example = "Jakarta")]
    region: &'static str,
    /// The code used in applications.
    #[schema(example = "ID-JK")]
    code: &'static str,
    /// Slots of the 21.
    #[schema(example = 4)]
    slots: u8,
    /// Members from there.
    #[schema(example = 1)]
    taken: u32,
}

/// A vote that has not passed yet.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PendingVoteView {
    /// The node to be added or dropped.
    candidate: AddressText,
    /// The operator whose node it is.
    operator: Option<AddressText>,
    /// Its display name.
    #[schema(example = "Bandung Node")]
    moniker: Option<String>,
    /// What is voted on.
    kind: VoteKindView,
    /// Who has voted for it.
    voters: Vec<AddressText>,
    /// Votes that decide.
    #[schema(example = 3)]
    needed: u32,
}

fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

impl From<&Expansion> for ExpansionView {
    fn from(expansion: &Expansion) -> Self {
        let status = expansion.status;
        Self {
            phase: status.phase,
            current: Long(status.current),
            max: Long(status.max),
            target: Long(status.target),
            community_open: status.community_open,
            community_registration_open: status.community_open,
            open_slots: Long(status.open_slots),
            phases: expansion.phases.iter().map(PhaseView::from).collect(),
            regions: expansion.regions.iter().map(TakenRegionView::from).collect(),
            members_without_region: count(expansion.members_without_region),
            votes: expansion.votes.iter().map(PendingVoteView::from).collect(),
            validator_set_size: count(expansion.validator_set_size),
            blocks_left: Long(expansion.blocks_left),
            as_of_block: Long(expansion.block),
        }
    }
}

impl From<&RegionSlots> for TakenRegionView {
    fn from(slots: &RegionSlots) -> Self {
        let region = slots.region;
        Self { region: region.name, code: region.code, slots: region.slots, taken: count(slots.taken) }
    }
}

impl From<&VoteProgress> for PendingVoteView {
    fn from(vote: &VoteProgress) -> Self {
        Self {
            candidate: AddressText(vote.candidate),
            operator: vote.operator.map(AddressText),
            moniker: vote.moniker.clone(),
            kind: vote.kind.into(),
            voters: vote.voters.iter().copied().map(AddressText).collect(),
            needed: count(vote.needed),
        }
    }
}
