//! The board: everything that is known of the validators at one head, computed once per block and shared.
//!
//! It is put together from the registry's records, the validator set with its votes, and what the index saw of each
//! validator's turns. Ranking, detail and expansion are read from it; it knows nothing of how they are shown.

mod assemble;
mod keeper;
mod reading;
mod record;
mod registry;
mod votes;

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock},
};

use alloy_primitives::{Address, B256};
use domain::Wei;

use crate::{error::ValidatorError, ranking::Ranking};

pub use assemble::{Sources, assemble};
pub use keeper::{BoardKeeper, BoardSettings, Boards, newest};
pub use reading::read_board;
pub use record::{Activity, Offence, SlashReason, Standing, Turns, ValidatorRecord};
pub use registry::{Enrolment, RegistryState};
pub use votes::{Ballot, Votes};

/// Everything that is known of the validators at one head.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Board {
    /// The head that the registry's records are of.
    pub block: u64,
    /// Its hash.
    pub block_hash: B256,
    /// Its time, in Unix seconds.
    pub time: u64,
    /// Newest block whose turns, seals and registry events are counted; below [`Board::block`] while the index lags,
    /// `None` before it has its first block.
    pub as_of_block: Option<u64>,
    /// Registered operators in order of first registration, then set members that nobody registered, by address.
    pub validators: Vec<Arc<ValidatorRecord>>,
    /// Stake of all members.
    pub total_staked: Wei,
    /// Where the expansion stands.
    pub expansion: Expansion,
    /// The votes about the set.
    pub votes: Votes,
    places: HashMap<Address, usize>,
    ranking: OnceLock<Ranking>,
}

/// What the registry says of the expansion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Expansion {
    /// 1, 2 or 3.
    pub phase: u8,
    /// Members: active and jailed.
    pub current: u64,
    /// Slots.
    pub max: u64,
    /// Slots of the last phase.
    pub target: u64,
    /// Whether anybody may register.
    pub community_open: bool,
    /// Slots that are free.
    pub open_slots: u64,
}

impl Board {
    /// The validators with their scores, best first; computed for the first who asks.
    pub fn ranking(&self) -> &Ranking {
        self.ranking.get_or_init(|| Ranking::of(self))
    }

    /// The validator with this operator or consensus address, or a failure to answer with.
    pub fn get(&self, address: Address) -> Result<&Arc<ValidatorRecord>, ValidatorError> {
        self.find(address).ok_or(ValidatorError::NotFound)
    }

    /// The validator with this operator or consensus address. An operator's own address wins over a node's.
    pub fn find(&self, address: Address) -> Option<&Arc<ValidatorRecord>> {
        self.places.get(&address).and_then(|&place| self.validators.get(place))
    }

    /// The validator whose node has this address.
    pub fn find_node(&self, node: Address) -> Option<&Arc<ValidatorRecord>> {
        self.validators.iter().find(|record| record.consensus == Some(node))
    }

    /// Validators that are registered and neither jailed nor gone.
    pub fn active_count(&self) -> usize {
        self.validators.iter().filter(|record| record.standing == Standing::Active).count()
    }

    /// Size of the validator set.
    pub fn set_size(&self) -> usize {
        self.votes.validator_set.len()
    }

    /// Whether everything is as of the head.
    pub fn is_current(&self) -> bool {
        self.as_of_block == Some(self.block)
    }
}

/// Where each address is found: operators first, so that nobody can hide one behind a claimed node address.
fn places(validators: &[Arc<ValidatorRecord>]) -> HashMap<Address, usize> {
    let operators = validators.iter().enumerate().map(|(place, record)| (record.operator, place));
    let nodes = validators.iter().enumerate().map(|(place, record)| (record.consensus, place));
    let mut places = HashMap::new();
    for (address, place) in operators.chain(nodes) {
        if let Some(address) = address {
            places.entry(address).or_insert(place);
        }
    }
    places
}
