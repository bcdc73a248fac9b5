//! One turn of the state machine: what an event does to the height being worked on. This file has the entrance for
//! messages and the passage from round to round; proposals, votes and round changes have files of their own.

use crate::config::IbftConfig;
use crate::seal::ValidatorKey;
use crate::timing::{block_due_ms, round_timeout_ms};

use super::height::{Height, Round};
use super::lock::Lock;
use super::message::Message;
use super::rejection::Rejection;
use super::{Action, ProposedBlock};

/// Everything a move may look at and change.
pub(super) struct Turn<'a, K, B> {
    pub(super) key: &'a K,
    pub(super) config: &'a IbftConfig,
    pub(super) height: &'a mut Height<B>,
    pub(super) now_ms: u64,
    pub(super) actions: &'a mut Vec<Action<B>>,
}

impl<K: ValidatorKey, B: ProposedBlock> Turn<'_, K, B> {
    /// Takes in a message for this height whose signature has been checked.
    pub(super) fn receive(&mut self, message: Message<B>) {
        let author = message.author();
        if let Err(reason) = self.try_receive(message) {
            self.actions.push(Action::Report { author, reason });
        }
    }

    fn try_receive(&mut self, message: Message<B>) -> Result<(), Rejection> {
        if !self.height.is_validator(message.author()) {
            return Err(Rejection::NotValidator);
        }
        let (round, current) = (message.view().round, self.height.round.number);
        if round < current {
            return Ok(());
        }
        match message {
            Message::Proposal(proposal) => self.receive_proposal(proposal),
            Message::RoundChange(change) => self.receive_round_change(change),
            early @ (Message::Prepare(_) | Message::Commit(_)) if round > current => {
                self.height.later_rounds.keep(early);
                Ok(())
            }
            Message::Prepare(prepare) => self.receive_prepare(prepare),
            Message::Commit(commit) => self.receive_commit(commit),
        }
    }

    /// Begins the height, in the round that the lock of an earlier run leaves open.
    pub(super) fn begin(&mut self, lock: Option<Lock<B>>) {
        let Some(lock) = lock else {
            return self.enter_round(0);
        };
        self.height.prepared = lock.prepared;
        self.change_round(lock.round.saturating_add(u32::from(lock.voted)));
    }

    /// Begins a round: its timers, and the votes that came early.
    pub(super) fn enter_round(&mut self, round: u32) {
        self.height.round = Round::new(round);
        self.start_round_timer();
        if round == 0 && self.is_proposer() {
            let at_ms = block_due_ms(self.height.parent.timestamp, self.config);
            self.actions.push(Action::StartBlockTimer { height: self.height.number, at_ms });
        }
        for message in self.height.later_rounds.take_round(round) {
            self.receive(message);
        }
    }

    pub(super) fn start_round_timer(&mut self) {
        let (height, round) = (self.height.number, self.height.round.number);
        let after_ms = round_timeout_ms(round, self.config);
        self.actions.push(Action::StartRoundTimer { height, round, after_ms });
    }

    pub(super) fn is_proposer(&self) -> bool {
        self.height.proposer(self.height.round.number) == Some(self.key.address())
    }

    pub(super) fn persist(&mut self) {
        self.actions.push(Action::Persist(self.height.lock()));
    }

    pub(super) fn broadcast(&mut self, message: Message<B>) {
        self.actions.push(Action::Broadcast(message));
    }
}
