//! One validator in full.

use alloy_primitives::Address;
use serde::Serialize;
use store::index::{ContractEvent, EventRow, TurnOutcome, TurnRow};
use utoipa::ToSchema;
use validators::{
    board::{Ballot, SlashReason, Standing},
    detail::{Evidence, ValidatorDetail},
};

use super::{
    AddressText, CoinText, HashText, Long, TimeText, WeiText, block::VoteKindView, ranking::RankedView,
    validator::ValidatorView,
};

/// One validator in full. Lists are newest first, at most 100 long.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ValidatorDetailView {
    #[serde(flatten)]
    validator: ValidatorView,
    /// When it last registered.
    registered_at: Option<TimeText>,
    /// Earliest withdrawal of its stake, once it has left.
    withdrawable_at: Option<TimeText>,
    /// The last block it proposed.
    last_proposed_block: Option<Long>,
    /// The last block that carries its seal, as our node stored it.
    last_sealed_block: Option<Long>,
    /// Its place in the ranking, with the score and how it came about.
    ranking: Option<RankedView>,
    /// Rewards not yet claimed, and what was set aside and taken.
    rewards: RewardsView,
    /// Registrations, slashes, jails, exits and removals.
    history: Vec<HistoryView>,
    /// Its last turns to propose.
    recent_turns: Vec<TurnView>,
    /// Proof that it signed two blocks of one height and round.
    evidence: Vec<EvidenceView>,
    /// Votes about it that have not changed the validator set yet.
    votes: Vec<BallotView>,
    /// Votes that decide.
    #[schema(example = 3)]
    votes_needed: u32,
    /// Newest block whose turns and events are listed; null while nothing is indexed.
    as_of_block: Option<Long>,
}

/// A validator's rewards.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RewardsView {
    /// Rewards not yet claimed, in coin.
    unclaimed: CoinText,
    /// The same in wei.
    unclaimed_wei: WeiText,
    /// What was set aside and taken.
    history: Vec<HistoryView>,
}

/// Something that the registry logged about a validator.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HistoryView {
    /// What happened.
    #[schema(example = "slashed")]
    event: &'static str,
    /// The block it happened in.
    block_number: Long,
    /// The transaction that made it happen.
    transaction_hash: HashText,
    /// Time of the block.
    timestamp: TimeText,
    /// The coin it was about: stake, penalty or reward.
    amount: Option<CoinText>,
    /// The same in wei.
    amount_wei: Option<WeiText>,
    /// Why.
    #[schema(example = "downtime")]
    reason: Option<String>,
    /// Until when it has effect.
    until: Option<TimeText>,
}

/// A turn to propose.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct TurnView {
    /// The block that was to be proposed.
    block_number: Long,
    /// Time of the block.
    timestamp: TimeText,
    /// The round that was the validator's.
    #[schema(example = 0)]
    round: u32,
    /// What became of it: `kept`, `missed`, or `unclear` when the headers do not tell.
    #[schema(pattern = "^(kept|missed|unclear)$", example = "kept")]
    outcome: &'static str,
}

/// Two seals of one validator for different blocks of one height and round.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EvidenceView {
    /// The height.
    block_number: Long,
    /// The round.
    #[schema(example = 0)]
    round: u32,
    /// The two digests that it sealed.
    digests: Vec<HashText>,
    /// When the second one was seen.
    seen_at: TimeText,
}

/// Votes about a validator's node.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct BallotView {
    /// What is voted on.
    kind: VoteKindView,
    /// Who has voted for it.
    voters: Vec<AddressText>,
}

impl From<&ValidatorDetail> for ValidatorDetailView {
    fn from(detail: &ValidatorDetail) -> Self {
        let record = &detail.record;
        Self {
            validator: (&**record).into(),
            registered_at: record.registered_at.map(TimeText::from_unix),
            withdrawable_at: record.withdrawable_at.map(TimeText::from_unix),
            last_proposed_block: record.activity.last_proposed_block.map(Long),
            last_sealed_block: record.activity.last_sealed_block.map(Long),
            ranking: detail.ranked.as_ref().map(RankedView::from),
            rewards: RewardsView {
                unclaimed: CoinText(record.rewards),
                unclaimed_wei: WeiText(record.rewards.0),
                history: detail.rewards.iter().filter_map(history).collect(),
            },
            history: detail.history.iter().filter_map(history).collect(),
            recent_turns: detail.recent_turns.iter().map(TurnView::from).collect(),
            evidence: detail.evidence.iter().map(EvidenceView::from).collect(),
            votes: detail.votes.iter().map(BallotView::from).collect(),
            votes_needed: u32::try_from(detail.votes_needed).unwrap_or(u32::MAX),
            as_of_block: detail.as_of_block.map(Long),
        }
    }
}

/// An event as it is shown; `None` for events that are not about a validator.
fn history(row: &EventRow) -> Option<HistoryView> {
    let bare = |event| HistoryView {
        event,
        block_number: Long(row.block_number),
        transaction_hash: HashText(row.transaction_hash),
        timestamp: TimeText::from_unix(row.timestamp),
        amount: None,
        amount_wei: None,
        reason: None,
        until: None,
    };
    let with_amount = |event, amount: domain::Wei| HistoryView {
        amount: Some(CoinText(amount)),
        amount_wei: Some(WeiText(amount.0)),
        ..bare(event)
    };
    Some(match &row.event {
        ContractEvent::ValidatorRegistered { stake, .. } => with_amount("registered", *stake),
        ContractEvent::ValidatorSlashed { reason, penalty, .. } => HistoryView {
            reason: SlashReason::from_number(*reason).map(|reason| reason.name().to_owned()),
            ..with_amount("slashed", *penalty)
        },
        ContractEvent::ValidatorJailed { until, .. } => {
            HistoryView { until: Some(TimeText::from_unix(*until)), ..bare("jailed") }
        }
        ContractEvent::ValidatorUnjailed { .. } => bare("unjailed"),
        ContractEvent::ValidatorRemoved { status, reason, .. } => HistoryView {
            reason: Some(reason.clone()).filter(|reason| !reason.is_empty()),
            ..bare(if Standing::from_number(*status) == Some(Standing::Slashed) {
                "slashedOut"
            } else {
                "removed"
            })
        },
        ContractEvent::ExitRequested { stake, withdrawable_at, .. } => HistoryView {
            until: Some(TimeText::from_unix(*withdrawable_at)),
            ..with_amount("exitRequested", *stake)
        },
        ContractEvent::StakeWithdrawn { amount, .. } => with_amount("stakeWithdrawn", *amount),
        ContractEvent::RewardsDistributed { amount, .. } => with_amount("rewardsDistributed", *amount),
        ContractEvent::RewardsClaimed { amount, .. } => with_amount("rewardsClaimed", *amount),
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
    })
}

impl From<&TurnRow> for TurnView {
    fn from(turn: &TurnRow) -> Self {
        Self {
            block_number: Long(turn.block_number),
            timestamp: TimeText::from_unix(turn.timestamp),
            round: turn.round,
            outcome: match turn.outcome {
                TurnOutcome::Kept => "kept",
                TurnOutcome::Missed => "missed",
                TurnOutcome::Unclear => "unclear",
            },
        }
    }
}

impl From<&Evidence> for EvidenceView {
    fn from(evidence: &Evidence) -> Self {
        Self {
            block_number: Long(evidence.block_number),
            round: evidence.round,
            digests: evidence.digests.iter().copied().map(HashText).collect(),
            seen_at: TimeText::from_unix(evidence.seen_at),
        }
    }
}

impl From<&Ballot> for BallotView {
    fn from(ballot: &Ballot) -> Self {
        let voters: &[Address] = &ballot.voters;
        Self { kind: ballot.kind.into(), voters: voters.iter().copied().map(AddressText).collect() }
    }
}
