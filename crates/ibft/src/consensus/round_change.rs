//! Giving up a round and agreeing on the next.

use std::cmp::Reverse;

use crate::extra_data::ExtraData;
use crate::hash::{seal_hash, seal_hash_with};
use crate::quorum::tolerated_faults;
use crate::seal::ValidatorKey;

use super::ProposedBlock;
use super::certificate::{check_prepared, prepared_round};
use super::height::Stage;
use super::message::{Message, RoundChange, RoundChangeCertificate, RoundChangePayload, Signed, View};
use super::rejection::Rejection;
use super::turn::Turn;

impl<K: ValidatorKey, B: ProposedBlock> Turn<'_, K, B> {
    /// The timer of the current round went off. The next round begins, unless this one was asked for and a quorum has
    /// not come yet: then asking again is all that helps, and running ahead would only make it harder to meet.
    pub(super) fn round_timed_out(&mut self) {
        let round = self.height.round.number;
        let own = self.height.round_changes.get(&self.key.address()).cloned();
        match own {
            Some(change) if !self.height.round.has_quorum => {
                self.start_round_timer();
                self.broadcast(Message::RoundChange(change));
            }
            Some(_) | None => self.change_round(round.saturating_add(1)),
        }
    }

    /// Leaves for a round and asks the others to come along.
    pub(super) fn change_round(&mut self, round: u32) {
        self.enter_round(round);
        let prepared = self.height.prepared.clone();
        let (prepared, block) = prepared.map(|prepared| (prepared.certificate, prepared.block)).unzip();
        let payload = RoundChangePayload { view: View { height: self.height.number, round }, prepared };
        let change = RoundChange { signed: Signed::sign(payload, self.key), block };
        self.height.round_changes.insert(self.key.address(), change.clone());
        self.persist();
        self.broadcast(Message::RoundChange(change));
        self.count_round_changes();
    }

    pub(super) fn receive_round_change(&mut self, change: RoundChange<B>) -> Result<(), Rejection> {
        let author = change.signed.author;
        let is_news = self
            .height
            .round_changes
            .get(&author)
            .is_none_or(|known| known.signed.payload.view < change.signed.payload.view);
        if !is_news {
            return Ok(());
        }
        self.check_round_change(&change)?;
        self.height.round_changes.insert(author, change);
        self.count_round_changes();
        Ok(())
    }

    fn check_round_change(&self, change: &RoundChange<B>) -> Result<(), Rejection> {
        let round = change.signed.payload.view.round;
        if round == 0 {
            return Err(Rejection::ChangeToRoundZero);
        }
        match (&change.signed.payload.prepared, &change.block) {
            (None, None) => Ok(()),
            (Some(prepared), Some(block)) => {
                check_prepared(prepared, round, self.height, self.key)?;
                if seal_hash(block.header())? == prepared.proposal.payload.digest {
                    Ok(())
                } else {
                    Err(Rejection::DigestMismatch)
                }
            }
            (None, Some(_)) | (Some(_), None) => Err(Rejection::PreparedBlockPresence),
        }
    }

    fn count_round_changes(&mut self) {
        let wanted = self.round_wanted_by_an_honest_validator();
        if wanted > self.height.round.number {
            return self.change_round(wanted);
        }
        self.note_quorum();
        let is_waiting = matches!(self.height.round.stage, Stage::Waiting);
        if is_waiting && self.is_proposer() {
            self.propose_after_round_change();
        }
    }

    /// Once a quorum has come to the round, everybody there gives it the full time from that moment on.
    fn note_quorum(&mut self) {
        let current = self.height.round.number;
        let changes = self.height.round_changes.values();
        let arrived = changes.filter(|change| change.signed.payload.view.round >= current).count();
        if !self.height.round.has_quorum && arrived >= self.height.quorum() {
            self.height.round.has_quorum = true;
            self.start_round_timer();
        }
    }

    /// The latest round that f + 1 validators ask for: at least one of them is not faulty and has timed out. Besu
    /// waits for a quorum here; see the module's list of differences.
    fn round_wanted_by_an_honest_validator(&self) -> u32 {
        let mut rounds: Vec<_> =
            self.height.round_changes.values().map(|change| change.signed.payload.view.round).collect();
        rounds.sort_unstable_by_key(|&round| Reverse(round));
        rounds.get(tolerated_faults(self.height.validators.len())).copied().unwrap_or(0)
    }

    /// Proposes if a quorum asks for the current round: the latest prepared block among theirs, else a fresh one.
    fn propose_after_round_change(&mut self) {
        let view = self.height.view();
        let asking = self.height.round_changes.values().filter(|change| change.signed.payload.view == view);
        let quorum: Vec<_> = asking.take(self.height.quorum()).collect();
        if quorum.len() < self.height.quorum() {
            return;
        }
        let certificate: RoundChangeCertificate = quorum.iter().map(|change| change.signed.clone()).collect();
        let prepared_blocks = quorum.iter().filter_map(|change| {
            Some((prepared_round(change.signed.payload.prepared.as_deref()?), change.block.as_ref()?))
        });
        let latest = prepared_blocks.max_by_key(|(round, _)| *round).map(|(_, block)| block.clone());
        let Some(block) = latest else {
            return self.ask_for_block(Some(certificate));
        };
        // The block hashed to its certificate's digest when it came in, so it decodes.
        let Ok(original) = ExtraData::decode(&block.header().extra_data) else {
            return;
        };
        let extra = ExtraData { round: view.round, ..original };
        let digest = seal_hash_with(block.header(), &extra);
        self.propose(block.with_extra_data(extra.encode()), digest, Some(certificate));
    }
}
