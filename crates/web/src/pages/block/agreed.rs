//! How the validators agreed on a block: proposer, round, seals, vote.

use std::sync::{Arc, LazyLock};

use alloy_primitives::{Address, B256};
use chain::{Agreement, Block};
use ibft::votes::VoteKind;
use quick_cache::sync::Cache;

use crate::{parts::AddressLink, site::Site};

/// Blocks whose sealers are remembered.
const REMEMBERED: usize = 4_096;

/// Who sealed a block. Finding out recovers a key per seal, which is most of the work of a block's page, and never changes.
static SEALERS: LazyLock<Cache<B256, Arc<[Address]>>> = LazyLock::new(|| Cache::new(REMEMBERED));

/// How the validators agreed on a block.
pub(super) struct Agreed {
    /// Nobody proposed genesis.
    pub(super) proposer: Option<AddressLink>,
    pub(super) round: u32,
    /// The validators whose agreement it took.
    pub(super) validators: Vec<Validator>,
    pub(super) sealed: usize,
    pub(super) vote: Option<VoteLine>,
}

pub(super) struct Validator {
    pub(super) link: AddressLink,
    pub(super) has_sealed: bool,
}

pub(super) struct VoteLine {
    pub(super) adds: bool,
    pub(super) recipient: AddressLink,
}

impl Agreed {
    pub(super) fn of(site: &Site, block: &Block) -> Self {
        let Some(agreement) = Agreement::of(&block.header) else {
            return Self { proposer: None, round: 0, validators: Vec::new(), sealed: 0, vote: None };
        };
        let sealers = sealers(block, &agreement);
        let validators = agreement.validators.iter().map(|address| Validator {
            link: site.proposer_link(*address).pictured(),
            has_sealed: sealers.contains(address),
        });
        Self {
            proposer: agreement.proposer.map(|proposer| site.proposer_link(proposer).pictured()),
            round: agreement.round,
            validators: validators.collect(),
            sealed: sealers.len(),
            vote: agreement.vote.map(|vote| VoteLine {
                adds: vote.kind == VoteKind::Add,
                recipient: site.proposer_link(vote.recipient).pictured(),
            }),
        }
    }
}

fn sealers(block: &Block, agreement: &Agreement) -> Arc<[Address]> {
    if let Some(known) = SEALERS.get(&block.hash) {
        return known;
    }
    let found: Arc<[Address]> = agreement.committers().into();
    SEALERS.insert(block.hash, found.clone());
    found
}
