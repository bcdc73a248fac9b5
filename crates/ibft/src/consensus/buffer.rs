//! Messages that came too early, in bounded memory: of each author and kind only the one of the latest round is kept,
//! because a validator that has gone on takes nothing back.

use std::collections::BTreeMap;

use alloy_primitives::Address;

use super::message::{Message, MessageKind};

/// Early messages of one height, at most one per author and kind.
#[derive(Debug, Clone)]
pub(super) struct EarlyMessages<B> {
    latest: BTreeMap<(Address, MessageKind), Message<B>>,
}

impl<B> EarlyMessages<B> {
    pub(super) const fn new() -> Self {
        Self { latest: BTreeMap::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.latest.len()
    }

    pub(super) fn keep(&mut self, message: Message<B>) {
        let key = (message.author(), message.kind());
        let is_news = self.latest.get(&key).is_none_or(|kept| kept.view() < message.view());
        if is_news {
            self.latest.insert(key, message);
        }
    }

    /// Takes the messages of a round and forgets those of earlier ones.
    pub(super) fn take_round(&mut self, round: u32) -> Vec<Message<B>> {
        self.latest.retain(|_, message| message.view().round >= round);
        self.latest
            .extract_if(.., |_, message| message.view().round == round)
            .map(|(_, message)| message)
            .collect()
    }

    pub(super) fn into_messages(self) -> impl Iterator<Item = Message<B>> {
        self.latest.into_values()
    }
}

/// Early messages of the heights ahead.
#[derive(Debug, Clone)]
pub(super) struct FutureHeights<B> {
    by_height: BTreeMap<u64, EarlyMessages<B>>,
}

impl<B> FutureHeights<B> {
    pub(super) const fn new() -> Self {
        Self { by_height: BTreeMap::new() }
    }

    /// Keeps a message unless `limit` are kept already.
    pub(super) fn keep(&mut self, message: Message<B>, limit: usize) {
        if self.by_height.values().map(EarlyMessages::len).sum::<usize>() < limit {
            let messages = self.by_height.entry(message.view().height).or_insert_with(EarlyMessages::new);
            messages.keep(message);
        }
    }

    /// Takes the messages of a height and forgets those of lower ones.
    pub(super) fn take_height(&mut self, height: u64) -> Option<EarlyMessages<B>> {
        self.by_height = self.by_height.split_off(&height);
        self.by_height.remove(&height)
    }
}
