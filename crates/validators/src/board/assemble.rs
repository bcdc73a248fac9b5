//! Putting a board together from what was read. Pure, so that a board can be made in a test.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, OnceLock},
};

use alloy_primitives::{Address, B256};
use domain::Wei;

use super::{Activity, Board, Enrolment, Offence, RegistryState, Standing, ValidatorRecord, Votes, places};

/// What a board is made from.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    /// The head.
    pub block: u64,
    /// Its hash.
    pub block_hash: B256,
    /// Its time, in Unix seconds.
    pub time: u64,
    /// Newest block that the index has.
    pub as_of_block: Option<u64>,
    /// The registry after the head.
    pub registry: RegistryState,
    /// The set and the votes.
    pub votes: Votes,
    /// Turns and seals by node.
    pub activity: HashMap<Address, Activity>,
    /// Slashes by operator, oldest first.
    pub offences: HashMap<Address, Vec<Offence>>,
    /// Regions of accepted applications by operator.
    pub regions: HashMap<Address, &'static str>,
}

/// Makes the board.
pub fn assemble(sources: Sources) -> Board {
    let enrolled: HashSet<Address> =
        sources.registry.enrolments.iter().filter_map(|enrolment| enrolment.consensus).collect();
    let registered = sources.registry.enrolments.iter().map(|enrolment| registered(enrolment, &sources));
    let strangers = sources.votes.validator_set.iter().filter(|node| !enrolled.contains(*node));
    let strangers = strangers.map(|&node| unregistered(node, &sources));
    let validators: Vec<_> = registered.chain(strangers).map(Arc::new).collect();
    Board {
        block: sources.block,
        block_hash: sources.block_hash,
        time: sources.time,
        as_of_block: sources.as_of_block,
        places: places(&validators),
        validators,
        total_staked: sources.registry.total_staked,
        expansion: sources.registry.expansion,
        votes: sources.votes,
        ranking: OnceLock::new(),
    }
}

fn registered(enrolment: &Enrolment, sources: &Sources) -> ValidatorRecord {
    let activity = enrolment.consensus.and_then(|node| sources.activity.get(&node));
    ValidatorRecord {
        operator: Some(enrolment.operator),
        consensus: enrolment.consensus,
        moniker: enrolment.moniker.clone(),
        website: enrolment.website.clone(),
        stake: enrolment.stake,
        rewards: enrolment.rewards,
        commission_bps: Some(enrolment.commission_bps),
        standing: enrolment.standing,
        registered_at: Some(enrolment.registered_at),
        jailed_until: enrolment.jailed_until,
        withdrawable_at: enrolment.withdrawable_at,
        slash_count: enrolment.slash_count,
        offences: sources.offences.get(&enrolment.operator).cloned().unwrap_or_default(),
        in_validator_set: enrolment.consensus.is_some_and(|node| sources.votes.is_validator(node)),
        region: sources.regions.get(&enrolment.operator).copied(),
        activity: activity.copied().unwrap_or_default(),
    }
}

/// A node that validators voted in without the registry.
fn unregistered(node: Address, sources: &Sources) -> ValidatorRecord {
    ValidatorRecord {
        operator: None,
        consensus: Some(node),
        moniker: String::new(),
        website: String::new(),
        stake: Wei::default(),
        rewards: Wei::default(),
        commission_bps: None,
        standing: Standing::None,
        registered_at: None,
        jailed_until: None,
        withdrawable_at: None,
        slash_count: 0,
        offences: Vec::new(),
        in_validator_set: true,
        region: None,
        activity: sources.activity.get(&node).copied().unwrap_or_default(),
    }
}
