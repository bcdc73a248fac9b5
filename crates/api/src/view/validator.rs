//! A validator in a list, and all of them.

use async_graphql::SimpleObject;
use serde::Serialize;
use utoipa::ToSchema;
use validators::board::{Board, Turns, ValidatorRecord};

use super::{AddressText, CoinText, Long, TimeText, WeiText};

/// A validator.
#[derive(Debug, Clone, Serialize, ToSchema, SimpleObject)]
#[serde(rename_all = "camelCase")]
#[graphql(name = "Validator")]
pub(crate) struct ValidatorView {
    /// The operator's account; the node's address for a node that nobody registered.
    address: AddressText,
    /// The address that the node seals with; null when it was released.
    consensus_address: Option<AddressText>,
    /// Display name; empty for a node that nobody registered.
    #[schema(example = "Jakarta One")]
    moniker: String,
    /// Web address.
    #[schema(example = "https://validator.example.org")]
    website: Option<String>,
    /// Stake in coin.
    #[schema(example = "100000")]
    stake: CoinText,
    /// The same in wei.
    stake_wei: WeiText,
    /// Commission in percent.
    #[schema(minimum = 0, maximum = 100, example = 5.0)]
    commission: Option<f64>,
    /// Standing in the registry; `NONE` for a node that nobody registered.
    #[schema(pattern = "^(NONE|ACTIVE|JAILED|INACTIVE|SLASHED|REMOVED)$", example = "ACTIVE")]
    status: String,
    /// Earliest end of the jail.
    jailed_until: Option<TimeText>,
    /// Slashes ever received.
    #[schema(example = 0)]
    slash_count: u8,
    /// Proposer turns kept in the last 24 hours, in percent; null without a turn.
    #[serde(rename = "uptime24h")]
    #[graphql(name = "uptime24h")]
    #[schema(minimum = 0, maximum = 100, example = 100.0)]
    uptime_24h: Option<f64>,
    /// The same over 30 days.
    #[serde(rename = "uptime30d")]
    #[graphql(name = "uptime30d")]
    #[schema(minimum = 0, maximum = 100, example = 99.98)]
    uptime_30d: Option<f64>,
    /// Blocks it ever proposed.
    #[schema(example = 2048)]
    proposed_blocks: Long,
    /// Proposer turns it ever missed.
    #[schema(example = 1)]
    missed_turns: Long,
    /// Region of its accepted application.
    #[schema(example = "ID-JK")]
    region: Option<String>,
    /// Whether its node is in the validator set.
    in_validator_set: bool,
    /// Whether it is out of the registry, but its node still in the validator set: it proposes blocks until it is voted out.
    removal_pending: bool,
}

impl From<&ValidatorRecord> for ValidatorView {
    fn from(record: &ValidatorRecord) -> Self {
        Self {
            address: AddressText(record.address()),
            consensus_address: record.consensus.map(AddressText),
            moniker: record.moniker.clone(),
            website: (!record.website.is_empty()).then(|| record.website.clone()),
            stake: CoinText(record.stake),
            stake_wei: WeiText(record.stake.0),
            commission: record.commission_bps.map(percent),
            status: record.standing.name().to_owned(),
            jailed_until: record.jailed_until.map(TimeText::from_unix),
            slash_count: record.slash_count,
            uptime_24h: uptime(&record.activity.day),
            uptime_30d: uptime(&record.activity.month),
            proposed_blocks: Long(record.activity.proposed_blocks),
            missed_turns: Long(record.activity.missed_turns),
            region: record.region.map(str::to_owned),
            in_validator_set: record.in_validator_set,
            removal_pending: record.is_removal_pending(),
        }
    }
}

/// Basis points as percent.
pub(crate) fn percent(bps: u16) -> f64 {
    f64::from(bps) / 100.0
}

/// Turns kept, in percent.
pub(crate) fn uptime(turns: &Turns) -> Option<f64> {
    turns.uptime_ppm().map(|ppm| f64::from(ppm) / 10_000.0)
}

/// All validators, former ones included.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ValidatorsView {
    /// In order of registration.
    validators: Vec<ValidatorView>,
    /// How many there are.
    #[schema(example = 5)]
    count: u32,
    /// How many of them are active.
    #[schema(example = 5)]
    active: u32,
    /// Newest block whose turns are counted; null while nothing is indexed.
    as_of_block: Option<Long>,
}

impl From<&Board> for ValidatorsView {
    fn from(board: &Board) -> Self {
        let number = |count| u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            validators: board.validators.iter().map(|record| (&**record).into()).collect(),
            count: number(board.validators.len()),
            active: number(board.active_count()),
            as_of_block: board.as_of_block.map(Long),
        }
    }
}
