//! What the rest of the process may ask of block production, and the answers.
//!
//! Block production owns the validators and runs on a thread of its own, so these requests are messages to it.

use std::sync::mpsc::{SyncSender, TrySendError};

use alloy_primitives::Address;
use ibft::votes::{Vote, VoteKind};
use tokio::sync::oneshot;

/// Requests that may wait for the producer; a full queue answers [`ControlError::Busy`].
pub(crate) const QUEUE: usize = 1024;

/// Why a request to block production was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ControlError {
    /// Block production has ended.
    #[error("block production is not running")]
    Stopped,
    /// Too many requests are waiting.
    #[error("too many requests are waiting for block production")]
    Busy,
    /// No validator has this name or address.
    #[error("unknown validator `{0}`")]
    UnknownValidator(String),
    /// Too few validators are running to seal a block.
    #[error("{running} of {total} validators are running, {quorum} are needed to seal a block")]
    NoQuorum {
        /// Members of the validator set that are running.
        running: usize,
        /// Size of the validator set.
        total: usize,
        /// How many must run.
        quorum: usize,
    },
    /// A block's timestamp must be at least a block period after its parent's.
    #[error("timestamp {asked} is before {earliest}, the earliest the next block may have")]
    TimestampTooEarly {
        /// What was asked for.
        asked: u64,
        /// What is possible.
        earliest: u64,
    },
    /// So far ahead that the clock could not go on from there.
    #[error("the clock cannot be moved beyond {latest}, the end of the year 9999")]
    TimestampTooLate {
        /// What is possible.
        latest: u64,
    },
    /// The store or the state failed; the log has the cause.
    #[error("block production failed, see the log")]
    Failed,
}

/// A validator of this node and whether it takes part.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ValidatorStatus {
    /// `V1`, `V2`, …
    pub name: String,
    /// The address it seals with.
    pub address: Address,
    /// False while it is stopped.
    pub running: bool,
    /// Whether it is in the validator set of the next block.
    pub in_validator_set: bool,
    /// The validator's own pending votes.
    pub votes: Vec<PendingVote>,
}

/// A vote that a validator will put into a block it proposes.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingVote {
    /// Whom the vote is about.
    pub address: Address,
    /// True to add, false to drop.
    pub add: bool,
}

impl From<Vote> for PendingVote {
    fn from(vote: Vote) -> Self {
        Self { address: vote.recipient, add: vote.kind == VoteKind::Add }
    }
}

type Answer<T> = oneshot::Sender<Result<T, ControlError>>;

/// A request to block production.
pub(crate) enum Command {
    /// Seal a block now, moving the clock as far as needed; answers its number.
    Mine { timestamp: Option<u64>, answer: Answer<u64> },
    /// Give the next block at least this timestamp.
    SetNextTimestamp { timestamp: u64, answer: Answer<()> },
    /// Move the clock; answers the total offset in seconds.
    IncreaseTime { secs: u64, answer: Answer<i64> },
    /// Remember the head; answers the snapshot's id.
    Snapshot { answer: Answer<u64> },
    /// Go back to a snapshot; false if there is none with this id.
    Revert { id: u64, answer: Answer<bool> },
    /// Stop (false) or start (true) a validator.
    SetRunning { validator: String, running: bool, answer: Answer<()> },
    /// Have a validator vote, or (`None`) forget its vote on the subject.
    SetVote { validator: String, subject: Address, vote: Option<Vote>, answer: Answer<()> },
    /// List the validators of this node.
    Validators { answer: Answer<Vec<ValidatorStatus>> },
    /// End block production after the current step.
    Shutdown,
}

/// Sends requests to block production.
#[derive(Debug, Clone)]
pub struct Control {
    commands: SyncSender<Command>,
}

impl Control {
    pub(crate) fn new(commands: SyncSender<Command>) -> Self {
        Self { commands }
    }

    /// Seals a block now. The chain's clock moves forward as far as the block period asks; with `timestamp` to
    /// exactly that second.
    pub async fn mine(&self, timestamp: Option<u64>) -> Result<u64, ControlError> {
        self.ask(|answer| Command::Mine { timestamp, answer }).await
    }

    /// Moves the clock so that the next block is not older than `timestamp`.
    pub async fn set_next_timestamp(&self, timestamp: u64) -> Result<(), ControlError> {
        self.ask(|answer| Command::SetNextTimestamp { timestamp, answer }).await
    }

    /// Moves the clock forward and answers its whole offset in seconds.
    pub async fn increase_time(&self, secs: u64) -> Result<i64, ControlError> {
        self.ask(|answer| Command::IncreaseTime { secs, answer }).await
    }

    /// Remembers the head and answers an id for [`Control::revert`].
    pub async fn snapshot(&self) -> Result<u64, ControlError> {
        self.ask(|answer| Command::Snapshot { answer }).await
    }

    /// Goes back to a snapshot and forgets it and all later ones; false if there is none with this id.
    pub async fn revert(&self, id: u64) -> Result<bool, ControlError> {
        self.ask(|answer| Command::Revert { id, answer }).await
    }

    /// Stops a validator, named `V3` or by its address. It forgets what it was doing, as a killed process would.
    pub async fn stop_validator(&self, validator: &str) -> Result<(), ControlError> {
        let validator = validator.to_owned();
        self.ask(|answer| Command::SetRunning { validator, running: false, answer }).await
    }

    /// Starts a stopped validator at the current head.
    pub async fn start_validator(&self, validator: &str) -> Result<(), ControlError> {
        let validator = validator.to_owned();
        self.ask(|answer| Command::SetRunning { validator, running: true, answer }).await
    }

    /// Has a validator of this node vote on `vote.recipient` in blocks that it proposes.
    pub async fn propose_vote(&self, validator: &str, vote: Vote) -> Result<(), ControlError> {
        let validator = validator.to_owned();
        self.ask(|answer| Command::SetVote { validator, subject: vote.recipient, vote: Some(vote), answer })
            .await
    }

    /// Has a validator of this node forget its vote on `subject`.
    pub async fn discard_vote(&self, validator: &str, subject: Address) -> Result<(), ControlError> {
        let validator = validator.to_owned();
        self.ask(|answer| Command::SetVote { validator, subject, vote: None, answer }).await
    }

    /// The validators of this node.
    pub async fn validators(&self) -> Result<Vec<ValidatorStatus>, ControlError> {
        self.ask(|answer| Command::Validators { answer }).await
    }

    /// Ends block production.
    pub(crate) fn shut_down(&self) {
        // A full queue is drained by the producer; a closed one has ended already.
        let _ = self.commands.send(Command::Shutdown);
    }

    async fn ask<T>(&self, command: impl FnOnce(Answer<T>) -> Command) -> Result<T, ControlError> {
        let (answer, answered) = oneshot::channel();
        self.commands.try_send(command(answer)).map_err(|error| match error {
            TrySendError::Full(_) => ControlError::Busy,
            TrySendError::Disconnected(_) => ControlError::Stopped,
        })?;
        answered.await.map_err(|_| ControlError::Stopped)?
    }
}
