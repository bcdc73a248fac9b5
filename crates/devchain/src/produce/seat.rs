//! One of this node's validators: its key, its consensus state machine and its timers.

use std::sync::Arc;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes};
use ibft::{
    consensus::{Event, Lock, ProposedBlock, Validator},
    seal::{Secp256k1Key, ValidatorKey},
    votes::PendingVotes,
};

use crate::block::{Block, Transaction};

/// A proposal on its way through consensus; clones share the transactions.
#[derive(Debug, Clone)]
pub(super) struct Proposed {
    pub(super) header: Header,
    /// The on-chain hash, which neither the round nor the seals change.
    pub(super) hash: B256,
    pub(super) transactions: Arc<Vec<Arc<Transaction>>>,
}

impl Proposed {
    pub(super) fn to_block(&self) -> Block {
        Block { header: self.header.clone(), hash: self.hash, transactions: self.transactions.clone() }
    }
}

impl ProposedBlock for Proposed {
    fn header(&self) -> &Header {
        &self.header
    }

    fn with_extra_data(&self, extra_data: Bytes) -> Self {
        let header = Header { extra_data, ..self.header.clone() };
        Self { header, ..self.clone() }
    }
}

/// A timer of a validator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timer {
    Block { height: u64 },
    Round { height: u64, round: u32 },
}

impl Timer {
    pub(super) fn event(self) -> Event<Proposed> {
        match self {
            Self::Block { height } => Event::BlockTimerFired { height },
            Self::Round { height, round } => Event::RoundTimerFired { height, round },
        }
    }
}

/// One of this node's validators.
pub(super) struct Seat {
    pub(super) name: String,
    pub(super) key: Secp256k1Key,
    /// `None` while the validator is stopped.
    pub(super) machine: Option<Validator<Secp256k1Key, Proposed>>,
    /// What it has promised at this height. Kept in memory: the validators live and die with the only copy of the
    /// chain, so after a crash nothing that was said is left.
    pub(super) lock: Option<Lock<Proposed>>,
    pub(super) votes: PendingVotes,
    block_timer: Option<(u64, Timer)>,
    round_timer: Option<(u64, Timer)>,
}

impl Seat {
    pub(super) fn new(name: String, key: Secp256k1Key) -> Self {
        let votes = PendingVotes::default();
        Self { name, key, machine: None, lock: None, votes, block_timer: None, round_timer: None }
    }

    pub(super) fn address(&self) -> Address {
        self.key.address()
    }

    /// Whether the operator means this validator: by name in any case, or by address.
    pub(super) fn answers_to(&self, name: &str) -> bool {
        self.name.eq_ignore_ascii_case(name) || name.parse() == Ok(self.address())
    }

    /// Stops the validator; its promises and votes stay, as they would on disk.
    pub(super) fn stop(&mut self) {
        self.machine = None;
        self.block_timer = None;
        self.round_timer = None;
    }

    /// Arms a timer in place of the last one of its kind.
    pub(super) fn arm(&mut self, timer: Timer, due_ms: u64) {
        match timer {
            Timer::Block { .. } => self.block_timer = Some((due_ms, timer)),
            Timer::Round { .. } => self.round_timer = Some((due_ms, timer)),
        }
    }

    /// Moves the round's end along with a clock that was moved: a leap in time is not a round without a proposal.
    pub(super) fn shift_round(&mut self, by_ms: i64) {
        if let Some((due, _)) = &mut self.round_timer {
            *due = due.saturating_add_signed(by_ms);
        }
    }

    /// Lets the round end no earlier than this.
    pub(super) fn hold_round(&mut self, until_ms: u64) {
        if let Some((due, _)) = &mut self.round_timer {
            *due = (*due).max(until_ms);
        }
    }

    /// When the next timer is due.
    pub(super) fn next_due_ms(&self) -> Option<u64> {
        [self.block_timer, self.round_timer].into_iter().flatten().map(|(due, _)| due).min()
    }

    /// Takes a timer that is due.
    pub(super) fn take_due(&mut self, now_ms: u64) -> Option<Timer> {
        [&mut self.block_timer, &mut self.round_timer]
            .into_iter()
            .find_map(|slot| slot.take_if(|(due, _)| *due <= now_ms))
            .map(|(_, timer)| timer)
    }
}
