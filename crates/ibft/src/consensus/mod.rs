//! One validator's part in the agreement on blocks, as a state machine: [`Event`]s in, [`Action`]s out.
//!
//! # Safety and restarts
//!
//! At one height no two different blocks are ever sealed, as long as each validator
//!
//! 1. proposes or prepares at most one block per round,
//! 2. says nothing more in rounds before one it has asked for, and
//! 3. shows in each round change the last block it has seen prepared.
//!
//! Besu keeps these promises in memory only: a validator that restarts within a height forgets them. That is harmless
//! for one or two, but a restart of many at an unlucky moment can seal two blocks. Here the promises survive in a
//! [`Lock`], handed out as [`Action::Persist`] before the messages it covers and taken back by [`Validator::resume`].
//! A driver whose validators all live and die in one process with the chain's only copy may keep locks in memory: after
//! a crash nothing that was said is left, and a block is either stored or unknown to everybody.
//!
//! # Differences from Besu, none of which another node can see in a block
//!
//! * The lock above.
//! * A validator joins a later round as soon as more validators ask for it than may be faulty (f + 1), instead of
//!   waiting for a quorum. This is PBFT's rule; it brings validators together sooner after an outage.
//! * A validator that has asked for a round stays there, asking again each time its timer goes off, until a quorum has
//!   come too; then everybody gives the round its full time. Besu's validators go on alone and rounds double for as
//!   long as an outage lasts, so that coming back may take as long as the outage.
//! * Of each author only the message of the latest round is kept per kind, so memory is bounded by the validator count.

mod buffer;
mod certificate;
mod height;
mod lock;
mod message;
mod proposing;
mod rejection;
mod round_change;
mod turn;
mod validator;
mod voting;

use alloy_consensus::Header;
use alloy_primitives::{Address, B256, Bytes};

pub use lock::{Lock, Prepared};
pub use message::{
    CommitPayload, Message, MessageKind, Payload, PreparePayload, PreparedCertificate, Proposal,
    ProposalPayload, RoundChange, RoundChangeCertificate, RoundChangePayload, Signed, View,
};
pub use rejection::Rejection;
pub use validator::Validator;

/// A block as the consensus sees it: a header, and whatever else the chain carries along. Clones should be cheap.
pub trait ProposedBlock: Clone {
    /// The header.
    fn header(&self) -> &Header;
    /// The same block with other extra data (another round, or seals added).
    fn with_extra_data(&self, extra_data: Bytes) -> Self;
}

/// What happens to a validator.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "an event is handed over once, and a head comes once per block"
)]
pub enum Event<B> {
    /// The chain has a new head: imported through us or from elsewhere, or the one at start. A head that is not above
    /// the one known is ignored; to rewind a chain, build new validators.
    NewHead {
        /// The head's header.
        header: Header,
        /// The set in force for the next block.
        validators: Vec<Address>,
    },
    /// A message of another validator arrived.
    Message(Message<B>),
    /// The timer of [`Action::StartBlockTimer`] went off. Firing it early builds a block early, whose timestamp is
    /// still no less than the block period after the parent's.
    BlockTimerFired {
        /// As in the action.
        height: u64,
    },
    /// The timer of [`Action::StartRoundTimer`] went off.
    RoundTimerFired {
        /// As in the action.
        height: u64,
        /// As in the action.
        round: u32,
    },
    /// The answer to [`Action::BuildProposal`]. Its header must have the asked number and timestamp, this validator as
    /// coinbase, and extra data with the set in force, the asked round, no seals and a vote if one is due.
    ProposalBuilt {
        /// As in the action.
        height: u64,
        /// As in the action.
        round: u32,
        /// The block.
        block: B,
    },
    /// The answer to [`Action::CheckProposal`].
    ProposalChecked {
        /// As in the action.
        digest: B256,
        /// Whether the block executes to what its header says.
        valid: bool,
    },
}

/// What the driver shall do, in the order given.
#[derive(Debug, Clone)]
pub enum Action<B> {
    /// Store the lock, durably, before going on.
    Persist(Lock<B>),
    /// Send the message to all other validators. It may be lost, repeated, or arrive late.
    Broadcast(Message<B>),
    /// Build a block on the head and answer with [`Event::ProposalBuilt`]. No answer is no harm: the round times out.
    BuildProposal {
        /// Number of the block.
        height: u64,
        /// Round for its extra data.
        round: u32,
        /// Timestamp for its header.
        timestamp: u64,
    },
    /// Execute the block on the head and answer with [`Event::ProposalChecked`]. Its header has already passed
    /// [`crate::rules::check_proposal`].
    CheckProposal {
        /// Names the proposal in the answer.
        digest: B256,
        /// The block.
        block: B,
    },
    /// Answer with [`Event::BlockTimerFired`] at this time.
    StartBlockTimer {
        /// Goes into the answer.
        height: u64,
        /// Milliseconds since the Unix epoch; may be in the past.
        at_ms: u64,
    },
    /// Answer with [`Event::RoundTimerFired`] after this time. Replaces the last round timer.
    StartRoundTimer {
        /// Goes into the answer.
        height: u64,
        /// Goes into the answer.
        round: u32,
        /// Milliseconds from now.
        after_ms: u64,
    },
    /// The block is final and sealed: import it and answer with [`Event::NewHead`].
    ImportBlock(B),
    /// Nothing to do; something was refused, worth a line in a log.
    Report {
        /// Who sent it.
        author: Address,
        /// Why it was refused.
        reason: Rejection,
    },
}
