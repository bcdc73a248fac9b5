//! What a validator knows about the block being agreed on. Data only: the moves are in [`super::turn`] and its
//! neighbours.

use std::collections::BTreeMap;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256};

use crate::config::IbftConfig;
use crate::proposer::proposer;
use crate::quorum::quorum;
use crate::rules::HeaderContext;

use super::buffer::EarlyMessages;
use super::lock::{Lock, Prepared};
use super::message::{
    CommitPayload, PreparePayload, Proposal, RoundChange, RoundChangeCertificate, Signed, View,
};

/// The work on one block.
#[derive(Debug, Clone)]
pub(super) struct Height<B> {
    pub(super) parent: Header,
    pub(super) parent_hash: B256,
    pub(super) number: u64,
    /// Ascending, without repetition.
    pub(super) validators: Vec<Address>,
    pub(super) round: Round<B>,
    /// The last block seen prepared.
    pub(super) prepared: Option<Prepared<B>>,
    /// The latest round change of each validator, this one included; all of them checked.
    pub(super) round_changes: BTreeMap<Address, RoundChange<B>>,
    /// Prepares and commits of rounds after the current one.
    pub(super) later_rounds: EarlyMessages<B>,
}

/// The current round.
#[derive(Debug, Clone)]
pub(super) struct Round<B> {
    pub(super) number: u32,
    pub(super) stage: Stage<B>,
    pub(super) prepares: BTreeMap<Address, Signed<PreparePayload>>,
    pub(super) commits: BTreeMap<Address, Signed<CommitPayload>>,
    /// Whether a quorum is known to have come this far.
    pub(super) has_quorum: bool,
    /// Whether this validator has sent its commit.
    pub(super) is_prepared: bool,
    /// Whether the block was handed over for import.
    pub(super) is_committed: bool,
}

/// How far the round's proposal is.
#[derive(Debug, Clone)]
pub(super) enum Stage<B> {
    /// None yet.
    Waiting,
    /// This validator is the proposer and its driver builds the block.
    Building { certificate: Option<RoundChangeCertificate> },
    /// The driver checks the block.
    Checking(Proposal<B>),
    /// This validator stands by it.
    Accepted(Proposal<B>),
    /// The block was found invalid; only another round helps.
    Refused { digest: B256 },
}

impl<B> Height<B> {
    pub(super) fn new(parent: Header, parent_hash: B256, number: u64, validators: Vec<Address>) -> Self {
        Self {
            parent,
            parent_hash,
            number,
            validators,
            round: Round::new(0),
            prepared: None,
            round_changes: BTreeMap::new(),
            later_rounds: EarlyMessages::new(),
        }
    }

    pub(super) fn view(&self) -> View {
        View { height: self.number, round: self.round.number }
    }

    pub(super) fn quorum(&self) -> usize {
        quorum(self.validators.len())
    }

    pub(super) fn proposer(&self, round: u32) -> Option<Address> {
        proposer(self.parent.beneficiary, &self.validators, round)
    }

    pub(super) fn is_validator(&self, address: Address) -> bool {
        self.validators.binary_search(&address).is_ok()
    }

    pub(super) fn context<'a>(&'a self, config: &'a IbftConfig, now_ms: u64) -> HeaderContext<'a> {
        HeaderContext {
            parent: &self.parent,
            parent_hash: self.parent_hash,
            validators: &self.validators,
            config,
            now_secs: now_ms / 1000,
        }
    }
}

impl<B: Clone> Height<B> {
    pub(super) fn lock(&self) -> Lock<B> {
        Lock {
            height: self.number,
            round: self.round.number,
            voted: matches!(self.round.stage, Stage::Accepted(_)),
            prepared: self.prepared.clone(),
        }
    }
}

impl<B> Round<B> {
    pub(super) const fn new(number: u32) -> Self {
        Self {
            number,
            stage: Stage::Waiting,
            prepares: BTreeMap::new(),
            commits: BTreeMap::new(),
            has_quorum: false,
            is_prepared: false,
            is_committed: false,
        }
    }
}

impl<B> Stage<B> {
    /// Digest of the proposal the round has settled on, for better or worse.
    pub(super) fn digest(&self) -> Option<B256> {
        match self {
            Self::Waiting | Self::Building { .. } => None,
            Self::Checking(proposal) | Self::Accepted(proposal) => Some(proposal.signed.payload.digest),
            Self::Refused { digest } => Some(*digest),
        }
    }
}
