//! The state machine's outside: one validator, fed with events.

use alloy_consensus::Header;
use alloy_primitives::Address;

use crate::config::IbftConfig;
use crate::hash::block_hash;
use crate::seal::ValidatorKey;

use super::buffer::FutureHeights;
use super::height::Height;
use super::lock::Lock;
use super::message::{Message, View};
use super::rejection::Rejection;
use super::turn::Turn;
use super::{Action, Event, ProposedBlock};

/// One validator. It does nothing until its first [`Event::NewHead`], and only observes while its address is not in
/// the validator set.
#[derive(Debug, Clone)]
pub struct Validator<K, B> {
    key: K,
    config: IbftConfig,
    /// From before a restart, until its height comes up.
    lock: Option<Lock<B>>,
    future: FutureHeights<B>,
    height: Option<Height<B>>,
}

impl<K: ValidatorKey, B: ProposedBlock> Validator<K, B> {
    /// A validator that has never said anything.
    pub const fn new(key: K, config: IbftConfig) -> Self {
        Self { key, config, lock: None, future: FutureHeights::new(), height: None }
    }

    /// A validator that goes on after a restart. `lock` is the last one it asked to persist.
    pub const fn resume(key: K, config: IbftConfig, lock: Lock<B>) -> Self {
        Self { key, config, lock: Some(lock), future: FutureHeights::new(), height: None }
    }

    /// The validator's address.
    pub fn address(&self) -> Address {
        self.key.address()
    }

    /// The height and round being worked on; `None` before the first head.
    pub fn view(&self) -> Option<View> {
        self.height.as_ref().map(Height::view)
    }

    /// Takes in an event. `now_ms` is the clock, in milliseconds since the Unix epoch.
    pub fn on_event(&mut self, event: Event<B>, now_ms: u64) -> Vec<Action<B>> {
        let mut actions = Vec::new();
        match event {
            Event::NewHead { header, validators } => {
                self.start_height(header, validators, now_ms, &mut actions);
            }
            Event::Message(message) => self.receive(message, now_ms, &mut actions),
            Event::BlockTimerFired { height } => {
                let view = View { height, round: 0 };
                if let Some(mut turn) = self.turn_in(view, now_ms, &mut actions) {
                    turn.block_is_due();
                }
            }
            Event::RoundTimerFired { height, round } => {
                if let Some(mut turn) = self.turn_in(View { height, round }, now_ms, &mut actions) {
                    turn.round_timed_out();
                }
            }
            Event::ProposalBuilt { height, round, block } => {
                if let Some(mut turn) = self.turn_in(View { height, round }, now_ms, &mut actions) {
                    turn.block_is_built(block);
                }
            }
            Event::ProposalChecked { digest, valid } => {
                if let Some(mut turn) = self.turn(now_ms, &mut actions) {
                    turn.block_is_checked(digest, valid);
                }
            }
        }
        actions
    }

    fn start_height(
        &mut self,
        parent: Header,
        mut validators: Vec<Address>,
        now_ms: u64,
        actions: &mut Vec<Action<B>>,
    ) {
        let Some(number) = parent.number.checked_add(1) else {
            return;
        };
        if self.height.as_ref().is_some_and(|height| height.number >= number) {
            return;
        }
        let parent_hash = match block_hash(&parent) {
            Ok(hash) => hash,
            Err(error) => {
                let reason = Rejection::ExtraData(error);
                return actions.push(Action::Report { author: parent.beneficiary, reason });
            }
        };
        validators.sort_unstable();
        validators.dedup();
        self.height = Some(Height::new(parent, parent_hash, number, validators));
        let lock = self.lock.take_if(|lock| lock.height <= number).filter(|lock| lock.height == number);
        let early = self.future.take_height(number);
        let Some(mut turn) = self.turn(now_ms, actions) else {
            return;
        };
        turn.begin(lock);
        for message in early.into_iter().flat_map(super::buffer::EarlyMessages::into_messages) {
            turn.receive(message);
        }
    }

    fn receive(&mut self, message: Message<B>, now_ms: u64, actions: &mut Vec<Action<B>>) {
        let Some(height) = &self.height else { return };
        let (author, at) = (message.author(), message.view().height);
        let newest = height.number.saturating_add(self.config.future_messages_max_distance);
        if author == self.key.address() || !(height.number..=newest).contains(&at) {
            return;
        }
        let reason = if !height.is_validator(author) {
            Rejection::NotValidator
        } else if !message.is_authentic(&self.key) {
            Rejection::ForgedSignature
        } else if at > height.number {
            return self.future.keep(message, self.config.future_messages_limit);
        } else {
            if let Some(mut turn) = self.turn(now_ms, actions) {
                turn.receive(message);
            }
            return;
        };
        actions.push(Action::Report { author, reason });
    }

    /// A turn at the current height, if this validator takes part in it.
    fn turn<'a>(&'a mut self, now_ms: u64, actions: &'a mut Vec<Action<B>>) -> Option<Turn<'a, K, B>> {
        let height = self.height.as_mut().filter(|height| height.is_validator(self.key.address()))?;
        Some(Turn { key: &self.key, config: &self.config, height, now_ms, actions })
    }

    /// A turn for an answer that is only of use in the round it was asked for.
    fn turn_in<'a>(
        &'a mut self,
        view: View,
        now_ms: u64,
        actions: &'a mut Vec<Action<B>>,
    ) -> Option<Turn<'a, K, B>> {
        self.turn(now_ms, actions).filter(|turn| turn.height.view() == view)
    }
}
