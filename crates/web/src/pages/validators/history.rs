//! What the registry logged of a validator, in words.

use store::index::{ContractEvent, EventRow};
use validators::board::{SlashReason, Standing};

use crate::{
    format::utc,
    parts::{Ago, Amount, BlockLink, TransactionLink},
    words::Language,
};

/// Something that the registry logged.
pub(super) struct EventLine {
    pub(super) name: &'static str,
    pub(super) block: BlockLink,
    pub(super) transaction: TransactionLink,
    pub(super) age: Ago,
    pub(super) amount: Option<Amount>,
    /// Why, or until when.
    pub(super) note: String,
}

/// The lines of what is about a validator.
pub(super) fn lines(rows: &[EventRow], now: u64, language: Language) -> Vec<EventLine> {
    rows.iter().filter_map(|row| line(row, now, language)).collect()
}

fn line(row: &EventRow, now: u64, language: Language) -> Option<EventLine> {
    let say = |english, indonesian| language.choose(english, indonesian);
    let until = |at: u64| format!("{} {}", say("until", "hingga"), utc(at));
    let (name, amount, note) = match &row.event {
        ContractEvent::ValidatorRegistered { stake, .. } => {
            (say("Registered", "Mendaftar"), Some(*stake), String::new())
        }
        ContractEvent::ValidatorSlashed { reason, penalty, .. } => {
            let reason =
                SlashReason::from_number(*reason).map_or("", |reason| slash_reason(reason, language));
            (say("Slashed", "Kena slash"), Some(*penalty), reason.to_owned())
        }
        ContractEvent::ValidatorJailed { until: at, .. } => (say("Jailed", "Dipenjara"), None, until(*at)),
        ContractEvent::ValidatorUnjailed { .. } => (say("Released", "Dibebaskan"), None, String::new()),
        ContractEvent::ValidatorRemoved { status, reason, .. } => {
            let is_slashed = Standing::from_number(*status) == Some(Standing::Slashed);
            let name = if is_slashed { say("Slashed out", "Dikeluarkan") } else { say("Removed", "Dihapus") };
            (name, None, reason.clone())
        }
        ContractEvent::ExitRequested { stake, withdrawable_at, .. } => {
            (say("Asked to leave", "Meminta keluar"), Some(*stake), until(*withdrawable_at))
        }
        ContractEvent::StakeWithdrawn { amount, .. } => {
            (say("Stake withdrawn", "Stake ditarik"), Some(*amount), String::new())
        }
        ContractEvent::RewardsDistributed { amount, .. } => {
            (say("Set aside", "Disisihkan"), Some(*amount), String::new())
        }
        ContractEvent::RewardsClaimed { amount, .. } => {
            (say("Taken", "Diambil"), Some(*amount), String::new())
        }
        ContractEvent::ConsensusAddressChanged { .. }
        | ContractEvent::OperatorApprovalChanged { .. }
        | ContractEvent::PenaltiesWithdrawn { .. }
        | ContractEvent::PhaseChanged { .. }
        | ContractEvent::MaxValidatorsChanged { .. }
        | ContractEvent::CommunityRegistrationChanged { .. }
        | ContractEvent::RoleChanged { .. }
        | ContractEvent::FeePaid { .. }
        | ContractEvent::HeldFeesWithdrawn { .. }
        | ContractEvent::QuotePaid { .. }
        | ContractEvent::Unknown { .. } => return None,
    };
    Some(EventLine {
        name,
        block: BlockLink(row.block_number),
        transaction: TransactionLink(row.transaction_hash),
        age: Ago { at: row.timestamp, now, language },
        amount: amount.map(|amount| Amount(amount.0)),
        note,
    })
}

/// What a slash was for.
pub(super) const fn slash_reason(reason: SlashReason, language: Language) -> &'static str {
    match reason {
        SlashReason::Downtime => language.choose("downtime", "tidak aktif"),
        SlashReason::DoubleSign => language.choose("double signing", "tanda tangan ganda"),
    }
}
