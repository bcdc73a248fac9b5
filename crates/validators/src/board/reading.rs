//! Reading a board: the registry and headers from the chain, everything about the past from the index.

use std::collections::HashMap;

use alloy_primitives::Address;
use chain::{ChainClient, Head};
use ibft::{
    extra_data::ExtraData,
    votes::{Vote, VoteKind},
};
use store::{
    Db, StoreError,
    index::{ActivitySums, ContractEvent, EventFilter, EventKind, IndexHead, ValidatorActivity, VoteRow},
};

use crate::{error::ValidatorError, program, ranking::Method};

use super::{
    Activity, Board, BoardSettings, Offence, SlashReason, Sources, Turns, Votes, assemble,
    registry::read_registry,
    votes::{CastVote, epoch_start},
};

/// Headers that are read from the chain when the index is behind; beyond that the votes are not known for a while.
const MOST_HEADERS: u64 = 64;
/// Slashes that are looked at, newest first. Three remove a validator.
const MOST_SLASHES: u32 = 1_000;
/// Accepted applications that are looked at for their regions, newest first.
const MOST_APPLICATIONS: u32 = 1_000;
/// How often the index is read again because it moved meanwhile.
const READINGS: usize = 3;

/// What the index knows, all of it as of one block.
struct Findings {
    as_of: Option<IndexHead>,
    activity: HashMap<Address, Activity>,
    offences: HashMap<Address, Vec<Offence>>,
    votes: Vec<VoteRow>,
}

/// Reads everything about the validators at a head.
pub async fn read_board(
    client: &dyn ChainClient,
    db: &Db,
    settings: &BoardSettings,
    head: &Head,
) -> Result<Board, ValidatorError> {
    let registry = read_registry(client, settings.contracts(), head.number()).await?;
    let epoch = epoch_start(head.number(), settings.epoch_length);
    let findings = read_index(db, epoch).await?;
    let regions = read_regions(db).await?;
    let votes = read_votes(client, settings, head, &findings).await?;
    Ok(assemble(Sources {
        block: head.number(),
        block_hash: head.hash,
        time: head.header.timestamp,
        as_of_block: findings.as_of.map(|as_of| as_of.number),
        registry,
        votes,
        activity: findings.activity,
        offences: findings.offences,
        regions,
    }))
}

/// Reads the index, again if it moved while it was read.
async fn read_index(db: &Db, epoch: u64) -> Result<Findings, StoreError> {
    let mut findings = read_index_once(db, epoch).await?;
    for _ in 1..READINGS {
        if db.index_head().await? == findings.as_of {
            break;
        }
        findings = read_index_once(db, epoch).await?;
    }
    Ok(findings)
}

async fn read_index_once(db: &Db, epoch: u64) -> Result<Findings, StoreError> {
    let windows = Method::WINDOWS.map(|window| window.secs);
    let report = db.validator_activity(&windows).await?;
    let activity = report.validators.iter().map(|found| (found.validator, activity(found)));
    let slashes = EventFilter { kinds: vec![EventKind::ValidatorSlashed], ..EventFilter::default() };
    let mut offences = HashMap::<Address, Vec<Offence>>::new();
    for row in db.contract_events(&slashes, MOST_SLASHES).await?.into_iter().rev() {
        if let ContractEvent::ValidatorSlashed { operator, reason, .. } = row.event
            && let Some(reason) = SlashReason::from_number(reason)
        {
            offences.entry(operator).or_default().push(Offence { reason, at: row.timestamp });
        }
    }
    Ok(Findings {
        as_of: report.as_of,
        activity: activity.collect(),
        offences,
        votes: db.votes_since(epoch).await?,
    })
}

fn activity(found: &ValidatorActivity) -> Activity {
    let window = |index: usize| found.windows.get(index).map(turns).unwrap_or_default();
    Activity {
        day: window(0),
        week: window(1),
        month: window(2),
        proposed_blocks: found.total.proposed,
        missed_turns: found.total.missed,
        last_proposed_block: found.last_proposed,
        last_sealed_block: found.last_sealed,
    }
}

fn turns(sums: &ActivitySums) -> Turns {
    Turns {
        assigned: sums.kept + sums.missed,
        missed: sums.missed,
        unclear: sums.unclear,
        sealed: sums.sealed,
        blocks: sums.blocks,
    }
}

/// The region of every operator's newest accepted application.
async fn read_regions(db: &Db) -> Result<HashMap<Address, &'static str>, StoreError> {
    let accepted = db.list_accepted_applications(MOST_APPLICATIONS).await?;
    let regions = accepted.into_iter().filter_map(|application| {
        let region = program::region(application.region.as_deref()?)?;
        Some((application.operator, region.code))
    });
    Ok(regions.collect())
}

/// The votes of the epoch: from the index as far as it is, from headers for the rest.
async fn read_votes(
    client: &dyn ChainClient,
    settings: &BoardSettings,
    head: &Head,
    findings: &Findings,
) -> Result<Votes, ValidatorError> {
    let number = head.number();
    let epoch = epoch_start(number, settings.epoch_length);
    let indexed = findings.as_of.map_or(epoch, |as_of| as_of.number.clamp(epoch, number));
    if number - indexed > MOST_HEADERS {
        let stated = decoded(number, &head.header.extra_data)?.validators;
        return Ok(Votes::unknown(stated, number, settings.epoch_length));
    }
    let in_index =
        findings.votes.iter().filter(|row| row.block_number > epoch && row.block_number <= indexed);
    let mut cast: Vec<CastVote> = in_index.map(CastVote::from).collect();
    for number in indexed + 1..=number {
        let block = client.block(number).await?.ok_or(ValidatorError::MissingBlock { number })?;
        if let Some(vote) = decoded(number, &block.header.extra_data)?.vote {
            cast.push(CastVote { voter: block.header.beneficiary, vote });
        }
    }
    let first = client.block(epoch).await?.ok_or(ValidatorError::MissingBlock { number: epoch })?;
    let set = decoded(epoch, &first.header.extra_data)?.validators;
    Ok(Votes::count(set, cast, number, settings.epoch_length))
}

fn decoded(number: u64, extra_data: &[u8]) -> Result<ExtraData, ValidatorError> {
    ExtraData::decode(extra_data).map_err(|source| ValidatorError::Header { number, source })
}

impl From<&VoteRow> for CastVote {
    fn from(row: &VoteRow) -> Self {
        let kind = if row.adds { VoteKind::Add } else { VoteKind::Drop };
        Self { voter: row.voter, vote: Vote { recipient: row.recipient, kind } }
    }
}
