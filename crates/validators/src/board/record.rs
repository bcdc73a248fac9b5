//! What is known of one validator.

use alloy_primitives::Address;
use domain::Wei;

/// Standing of an operator in the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Standing {
    /// Not registered: a node that validators voted in without the registry.
    None,
    /// A member.
    Active,
    /// A member that must wait after a slash.
    Jailed,
    /// Left by its own request.
    Inactive,
    /// Removed by its third slash.
    Slashed,
    /// Removed by an admin.
    Removed,
}

impl Standing {
    /// The standing behind the registry's number.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::None),
            1 => Some(Self::Active),
            2 => Some(Self::Jailed),
            3 => Some(Self::Inactive),
            4 => Some(Self::Slashed),
            5 => Some(Self::Removed),
            _ => None,
        }
    }

    /// The registry's own name of it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "NONE",
            Self::Active => "ACTIVE",
            Self::Jailed => "JAILED",
            Self::Inactive => "INACTIVE",
            Self::Slashed => "SLASHED",
            Self::Removed => "REMOVED",
        }
    }

    /// Whether the operator left or was put out.
    pub const fn is_former(self) -> bool {
        match self {
            Self::Inactive | Self::Slashed | Self::Removed => true,
            Self::None | Self::Active | Self::Jailed => false,
        }
    }
}

/// What a slash was for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlashReason {
    /// The node was down.
    Downtime,
    /// The node signed two blocks of one height and round.
    DoubleSign,
}

impl SlashReason {
    /// The reason behind the registry's number.
    pub const fn from_number(number: u8) -> Option<Self> {
        match number {
            1 => Some(Self::Downtime),
            2 => Some(Self::DoubleSign),
            _ => None,
        }
    }

    /// The name in answers.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Downtime => "downtime",
            Self::DoubleSign => "double-sign",
        }
    }
}

/// A slash and when it happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offence {
    /// What it was for.
    pub reason: SlashReason,
    /// Time of its block, in Unix seconds.
    pub at: u64,
}

/// What a validator did in a window of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Turns {
    /// Proposer turns it had and of which the headers tell what became.
    pub assigned: u64,
    /// Turns of those in which it proposed nothing.
    pub missed: u64,
    /// Turns of which the headers do not tell; they count neither for nor against it.
    pub unclear: u64,
    /// Blocks that carry its seal, as the indexed node stored them.
    pub sealed: u64,
    /// Blocks for which it was in the validator set.
    pub blocks: u64,
}

impl Turns {
    /// Turns kept of turns assigned, in millionths; `None` without a turn.
    pub fn uptime_ppm(&self) -> Option<u32> {
        let kept = u128::from(self.assigned.saturating_sub(self.missed));
        let ppm = (kept * 1_000_000).checked_div(u128::from(self.assigned))?;
        u32::try_from(ppm).ok()
    }
}

/// What a validator did in the windows that the product knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Activity {
    /// In the last 24 hours.
    pub day: Turns,
    /// In the last 7 days.
    pub week: Turns,
    /// In the last 30 days.
    pub month: Turns,
    /// Blocks it ever built.
    pub proposed_blocks: u64,
    /// Turns it ever missed.
    pub missed_turns: u64,
    /// The last block it built.
    pub last_proposed_block: Option<u64>,
    /// The last block that carries its seal, as the indexed node stored it.
    pub last_sealed_block: Option<u64>,
}

/// What is known of one validator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValidatorRecord {
    /// The account that registered; `None` for a set member that nobody registered.
    pub operator: Option<Address>,
    /// The address the node seals with; `None` when it was released.
    pub consensus: Option<Address>,
    /// Display name; empty when nobody registered.
    pub moniker: String,
    /// Web address; empty when there is none.
    pub website: String,
    /// Stake held by the registry.
    pub stake: Wei,
    /// Rewards not yet claimed.
    pub rewards: Wei,
    /// Commission in basis points; `None` when nobody registered.
    pub commission_bps: Option<u16>,
    /// Standing in the registry.
    pub standing: Standing,
    /// Time of the latest registration, in Unix seconds.
    pub registered_at: Option<u64>,
    /// Earliest end of the jail, in Unix seconds.
    pub jailed_until: Option<u64>,
    /// Earliest withdrawal of the stake, in Unix seconds.
    pub withdrawable_at: Option<u64>,
    /// Slashes ever received.
    pub slash_count: u8,
    /// Slashes that the index saw, oldest first.
    pub offences: Vec<Offence>,
    /// Whether the node is in the validator set of the next block.
    pub in_validator_set: bool,
    /// Region of the operator's accepted application.
    pub region: Option<&'static str>,
    /// Turns and seals.
    pub activity: Activity,
}

impl ValidatorRecord {
    /// The address the validator is known by: its operator's, or the node's when nobody registered.
    pub fn address(&self) -> Address {
        self.operator.or(self.consensus).unwrap_or(Address::ZERO)
    }

    /// Whether the operator is out of the registry, but its node in the validator set: it proposes until it is voted out.
    pub fn is_removal_pending(&self) -> bool {
        self.in_validator_set && self.standing.is_former()
    }

    /// Whether it was ever slashed for signing two blocks.
    pub fn has_double_signed(&self) -> bool {
        self.offences.iter().any(|offence| offence.reason == SlashReason::DoubleSign)
    }
}
