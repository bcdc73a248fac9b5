//! Prepares and commits: from an accepted proposal to a sealed block.

use std::sync::Arc;

use crate::extra_data::ExtraData;
use crate::seal::ValidatorKey;

use super::height::Stage;
use super::lock::Prepared;
use super::message::{CommitPayload, Message, PreparePayload, PreparedCertificate, Proposal, Signed};
use super::rejection::Rejection;
use super::turn::Turn;
use super::{Action, ProposedBlock};

impl<K: ValidatorKey, B: ProposedBlock> Turn<'_, K, B> {
    pub(super) fn receive_prepare(&mut self, prepare: Signed<PreparePayload>) -> Result<(), Rejection> {
        if self.height.proposer(prepare.payload.view.round) == Some(prepare.author) {
            return Err(Rejection::PrepareFromProposer);
        }
        self.height.round.prepares.entry(prepare.author).or_insert(prepare);
        self.count_votes();
        Ok(())
    }

    pub(super) fn receive_commit(&mut self, commit: Signed<CommitPayload>) -> Result<(), Rejection> {
        if self.key.recover(commit.payload.digest, &commit.payload.seal) != Some(commit.author) {
            return Err(Rejection::ForgedSeal);
        }
        self.height.round.commits.entry(commit.author).or_insert(commit);
        self.count_votes();
        Ok(())
    }

    /// Stands by a proposal of another validator.
    pub(super) fn accept(&mut self, proposal: Proposal<B>) {
        let payload = PreparePayload { view: self.height.view(), digest: proposal.signed.payload.digest };
        let prepare = Signed::sign(payload, self.key);
        self.height.round.stage = Stage::Accepted(proposal);
        self.height.round.prepares.insert(prepare.author, prepare.clone());
        self.persist();
        self.broadcast(Message::Prepare(prepare));
        self.count_votes();
    }

    /// Takes the steps that the votes for the accepted proposal allow.
    pub(super) fn count_votes(&mut self) {
        let Stage::Accepted(proposal) = &self.height.round.stage else {
            return;
        };
        let proposal = proposal.clone();
        if !self.height.round.is_prepared {
            self.commit_if_prepared(&proposal);
        }
        if !self.height.round.is_committed {
            self.import_if_committed(&proposal);
        }
    }

    fn commit_if_prepared(&mut self, proposal: &Proposal<B>) {
        let digest = proposal.signed.payload.digest;
        let needed = self.height.quorum().saturating_sub(1);
        let matching = self.height.round.prepares.values().filter(|prepare| prepare.payload.digest == digest);
        let prepares: Vec<_> = matching.take(needed).cloned().collect();
        if prepares.len() < needed {
            return;
        }
        let certificate = PreparedCertificate { proposal: proposal.signed.clone(), prepares };
        let prepared = Prepared { certificate: Arc::new(certificate), block: proposal.block.clone() };
        self.height.prepared = Some(prepared);
        self.height.round.is_prepared = true;
        self.persist();

        let payload = CommitPayload { view: self.height.view(), digest, seal: self.key.sign(digest) };
        let commit = Signed::sign(payload, self.key);
        self.height.round.commits.insert(commit.author, commit.clone());
        self.broadcast(Message::Commit(commit));
    }

    fn import_if_committed(&mut self, proposal: &Proposal<B>) {
        let digest = proposal.signed.payload.digest;
        let matching = self.height.round.commits.values().filter(|commit| commit.payload.digest == digest);
        let seals: Vec<_> = matching.map(|commit| commit.payload.seal).collect();
        if seals.len() < self.height.quorum() {
            return;
        }
        // An accepted proposal has decoded before, so this cannot fail.
        let Ok(extra) = ExtraData::decode(&proposal.block.header().extra_data) else {
            return;
        };
        let sealed = ExtraData { seals, ..extra };
        self.height.round.is_committed = true;
        self.actions.push(Action::ImportBlock(proposal.block.with_extra_data(sealed.encode())));
    }
}
